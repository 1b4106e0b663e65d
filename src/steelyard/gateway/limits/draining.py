"""The requests that are under way, so that a server that is stopped lets them end in time and leaves none behind."""

from __future__ import annotations

import asyncio
from typing import Any

CLOSING = 5.0  # seconds that cancelled requests have at most to let go of their upstreams


class UnderWay:
    """Knows the task of every request."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def note(self) -> None:
        """Note the request that the current task answers."""
        task = asyncio.current_task()
        if task is not None and task not in self._tasks:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def end(self, seconds: float) -> None:
        """Wait so long for the requests to end; cancel those that are left, and wait until they have let go."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        left = set(self._tasks)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=CLOSING)
