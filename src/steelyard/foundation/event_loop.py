"""The event loop of `steelyard serve`: uvloop if it is installed (the extra `fast`), otherwise asyncio's own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to completion, as `asyncio.run` does.

    >>> run(asyncio.sleep(0, "done"))
    'done'
    """
    try:
        from uvloop import new_event_loop
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)
