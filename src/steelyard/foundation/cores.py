"""How this process runs: on how many cores, with compiled loops or plain ones, and on which event loop.

A process that only votes on the few responses of one question at a time, like the gateway, gains nothing from compiled
loops (voting/kernels), and numba costs 130 MB and a second. The results are identical to the last bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Sequence
from threading import Thread
from typing import Any, TypeVar

Result = TypeVar("Result")


def usable_cores() -> int:
    """Return the number of usable cores: under taskset, Slurm or a container's cpuset, fewer than the machine has.

    >>> 1 <= usable_cores() <= os.cpu_count()
    True
    """
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_together(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run tasks at the same time, the first in this thread, and return their results; an error of any is raised.

    A pool of threads takes longer to begin and to end, which matters where the tasks take milliseconds.

    >>> run_together([lambda: 1, lambda: 2])
    [1, 2]
    """
    results: dict[int, Result] = {}
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            results[number] = tasks[number]()
        except BaseException as error:  # noqa: BLE001 - raised by the thread that waits
            errors.append(error)

    others = [Thread(target=run, args=(number,)) for number in range(1, len(tasks))]
    for thread in others:
        thread.start()
    run(0)
    for thread in others:
        thread.join()
    if errors:
        raise errors[0]
    return [results[number] for number in range(len(tasks))]


class _Chosen:
    plain = False


def choose_plain_loops() -> None:
    """Run the loops as plain Python from now on; has no effect once they are imported."""
    _Chosen.plain = True


def plain_loops() -> bool:
    """Whether this process has chosen plain loops."""
    return _Chosen.plain


def run_in_loop(main: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to completion, like `asyncio.run`: on uvloop if it is installed (the extra `fast`).

    >>> import asyncio
    >>> run_in_loop(asyncio.sleep(0, "done"))
    'done'
    """
    import asyncio

    try:
        from uvloop import new_event_loop
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)
