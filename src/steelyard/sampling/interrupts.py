"""Ctrl-C and SIGTERM while a job works, and the form of an async job for code that is not async."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from steelyard.foundation.errors import SettingError

P = ParamSpec("P")
Result = TypeVar("Result")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def at_first_signal(act: Callable[[], object]) -> Iterator[None]:
    """Within the block the first Ctrl-C or SIGTERM calls `act`; the second one does what it does everywhere."""
    loop = asyncio.get_running_loop()

    def let_go() -> None:
        with suppress(NotImplementedError, ValueError, RuntimeError):
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    def first() -> None:
        let_go()
        act()

    with suppress(NotImplementedError, ValueError, RuntimeError):  # not in the main thread, or Windows
        for number in SIGNALS:
            loop.add_signal_handler(number, first)
    try:
        yield
    finally:
        let_go()


async def first_signal() -> int:
    """Wait for Ctrl-C or SIGTERM and return its number; the second one does what it does everywhere."""
    loop = asyncio.get_running_loop()
    came: asyncio.Future[int] = loop.create_future()

    def note(number: int) -> None:
        if not came.done():
            came.set_result(number)

    for number in SIGNALS:
        loop.add_signal_handler(number, note, number)
    try:
        return await came
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)


@contextmanager
def handlers_kept() -> Iterator[None]:
    """Put back after the block what the program around us had set for our signals; only its main thread can set any."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # None: it was not set from Python, and cannot be
                signal.signal(number, handler)


def wait_for(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a job to its end. The first Ctrl-C or SIGTERM cancels it, and it comes out as KeyboardInterrupt."""

    async def main() -> Result:
        task = asyncio.ensure_future(work)
        with at_first_signal(task.cancel):
            return await task

    try:
        with handlers_kept():
            return asyncio.run(main())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def waits_for(
    job: Callable[P, Coroutine[Any, Any, Result]],
) -> Callable[[Callable[[], None]], Callable[P, Result]]:
    """Make the form of an async job for code that is not async; the function it decorates has its name and its text.

    >>> async def adouble(x: int) -> int:
    ...     return 2 * x
    >>> @waits_for(adouble)
    ... def double() -> None:
    ...     "Double a number."
    >>> double(x=21)
    42
    """

    def decorate(told: Callable[[], None]) -> Callable[P, Result]:
        @wraps(job)
        def wait(*args: P.args, **options: P.kwargs) -> Result:
            if _in_a_loop():
                raise SettingError(
                    f"an event loop is running here, as in a notebook: write 'await {job.__name__}(..)' "
                    f"instead of '{told.__name__}(..)'"
                )
            return wait_for(job(*args, **options))

        wait.__name__, wait.__qualname__, wait.__doc__ = told.__name__, told.__qualname__, told.__doc__
        return wait

    return decorate


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
