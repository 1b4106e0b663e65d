"""Ctrl-C and SIGTERM during a job, cancelled tasks, and the synchronous form of an async job."""

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
    """Within the block the first Ctrl-C or SIGTERM calls `act`; the second one has its usual effect."""
    loop = asyncio.get_running_loop()

    def remove_handlers() -> None:
        with suppress(NotImplementedError, ValueError, RuntimeError):
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    def first() -> None:
        remove_handlers()
        act()

    with suppress(NotImplementedError, ValueError, RuntimeError):  # not in the main thread, or Windows
        for number in SIGNALS:
            loop.add_signal_handler(number, first)
    try:
        yield
    finally:
        remove_handlers()


async def cancel_and_wait(*tasks: asyncio.Future[Any]) -> list[Any]:
    """Cancel tasks and wait until they have ended; return their results or errors."""
    for task in tasks:
        task.cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)


async def first_signal() -> int:
    """Wait for Ctrl-C or SIGTERM and return its number; the second one has its usual effect."""
    loop = asyncio.get_running_loop()
    received: asyncio.Future[int] = loop.create_future()

    def note(number: int) -> None:
        if not received.done():
            received.set_result(number)

    for number in SIGNALS:
        loop.add_signal_handler(number, note, number)
    try:
        return await received
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)


@contextmanager
def restored_handlers() -> Iterator[None]:
    """Restore the caller's signal handlers after the block; only the main thread can set any."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # None: it was not set from Python, and cannot be restored
                signal.signal(number, handler)


def wait_for(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a job to its end. The first Ctrl-C or SIGTERM cancels it, which raises KeyboardInterrupt."""

    async def main() -> Result:
        task = asyncio.ensure_future(work)
        with at_first_signal(task.cancel):
            return await task

    try:
        with restored_handlers():
            return asyncio.run(main())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def waits_for(
    job: Callable[P, Coroutine[Any, Any, Result]],
) -> Callable[[Callable[[], None]], Callable[P, Result]]:
    """Make the synchronous form of an async job, with the name and docstring of the decorated function.

    >>> async def adouble(x: int) -> int:
    ...     return 2 * x
    >>> @waits_for(adouble)
    ... def double() -> None:
    ...     "Double a number."
    >>> double(x=21)
    42
    """

    def decorate(described: Callable[[], None]) -> Callable[P, Result]:
        @wraps(job)
        def wait(*args: P.args, **options: P.kwargs) -> Result:
            if _in_a_loop():
                raise SettingError(
                    f"an event loop is running here, as in a notebook: write 'await {job.__name__}(..)' "
                    f"instead of '{described.__name__}(..)'"
                )
            return wait_for(job(*args, **options))

        wait.__name__, wait.__qualname__ = described.__name__, described.__qualname__
        wait.__doc__ = described.__doc__
        return wait

    return decorate


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
