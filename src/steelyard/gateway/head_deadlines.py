"""Connections whose request head has not arrived: how many there may be, and when each is closed.

All of them have the same time, so that one timer serves all, and the one that has waited longest is always the first.
Closing a thousand connections at once would hold up every other request for a tenth of a second: a few are closed per
step. Beyond the limit a new connection takes the place of the one that has waited longest: a client that sends its head
at once is never that one.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

MOST_WAITING = 512  # connections
BATCH = 8  # connections that are closed per step
STEP = 0.005  # seconds between two steps


class Waiting(Protocol):
    """A connection whose head has not arrived."""

    def close_slow(self) -> None:
        """Close it."""


class HeadDeadlines:
    """Closes connections `seconds` after they were added, or earlier where there are more than `limit`."""

    def __init__(self, seconds: float, limit: int = MOST_WAITING) -> None:
        self.seconds, self.limit = seconds, limit
        self._due: dict[Waiting, float] = {}  # the oldest first
        self._timer: asyncio.TimerHandle | None = None

    def __contains__(self, connection: Waiting) -> bool:
        return connection in self._due

    def add(self, connection: Waiting) -> None:
        """Give a connection time for a head."""
        loop = asyncio.get_running_loop()
        self._due[connection] = loop.time() + self.seconds
        if len(self._due) > self.limit:
            self._close_oldest()
        if self._timer is None:
            self._timer = loop.call_later(self.seconds, self._step)

    def discard(self, connection: Waiting) -> None:
        """Forget a connection: its head is there, or it is closed."""
        self._due.pop(connection, None)

    def _close_oldest(self) -> None:
        oldest = next(iter(self._due))
        del self._due[oldest]
        oldest.close_slow()

    def _step(self) -> None:
        """Close a few connections whose time is over, and come back for the next."""
        loop = asyncio.get_running_loop()
        self._timer, now = None, loop.time()
        for _ in range(BATCH):
            if self._due and next(iter(self._due.values())) <= now:
                self._close_oldest()
        if self._due:
            wait = next(iter(self._due.values())) - now
            self._timer = loop.call_later(max(STEP, wait), self._step)
