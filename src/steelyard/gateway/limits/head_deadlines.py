"""Connections whose request head has not arrived: how many there may be, and when each is closed.

All of them have the same timeout, so one timer serves all, and the first is always the one that has waited longest.
Closing a thousand connections at once would delay every other request by a tenth of a second, so a few are closed per
step. Beyond the limit, every new connection closes a few of those that have waited longest, but none that has waited
for less than the grace period: in a burst of a thousand connections, the heads that have arrived are read only after
all of them were accepted.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

MAX_WAITING = 512  # connections
GRACE = 5.0  # seconds
BATCH = 8  # connections closed per step
STEP = 0.005  # seconds between two steps


class WaitingConnection(Protocol):
    """A connection whose head has not arrived."""

    def close_slow(self) -> None:
        """Close it."""


class HeadDeadlines:
    """Closes connections `seconds` after they were added, or after `grace` seconds if there are more than `limit`."""

    def __init__(self, seconds: float, limit: int = MAX_WAITING, grace: float = GRACE) -> None:
        self.seconds, self.limit, self.grace = seconds, limit, min(grace, seconds)
        self._due: dict[WaitingConnection, float] = {}  # the oldest first
        self._timer: asyncio.TimerHandle | None = None

    def __contains__(self, connection: WaitingConnection) -> bool:
        return connection in self._due

    def add(self, connection: WaitingConnection) -> None:
        """Start the timeout of a connection."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._due[connection] = now + self.seconds
        for _ in range(min(BATCH, len(self._due) - self.limit)):
            if next(iter(self._due.values())) - self.seconds + self.grace <= now:
                self._close_oldest()
        if self._timer is None:
            self._timer = loop.call_later(self.seconds, self._step)

    def discard(self, connection: WaitingConnection) -> None:
        """Forget a connection: its head has arrived, or it is closed."""
        self._due.pop(connection, None)

    def _close_oldest(self) -> None:
        oldest = next(iter(self._due))
        del self._due[oldest]
        oldest.close_slow()

    def _step(self) -> None:
        """Close a few connections that have timed out, and schedule the next step."""
        loop = asyncio.get_running_loop()
        self._timer, now = None, loop.time()
        for _ in range(BATCH):
            if self._due and next(iter(self._due.values())) <= now:
                self._close_oldest()
        if self._due:
            wait = next(iter(self._due.values())) - now
            self._timer = loop.call_later(max(STEP, wait), self._step)
