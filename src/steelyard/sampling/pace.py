"""How many requests are under way at once: more while it works, fewer when the server pushes back.

The number doubles in a round until the server first pushes back, then grows by one a round, and only while that pays:
a server that answers no faster for it has a queue (throughput.py). A push back (429, 503, a
timeout) takes it to 0.8 of itself, once a burst: requests that were sent before the last cut say nothing new. While the
server has asked for time nobody sends anything.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

from steelyard.sampling.throughput import Throughput

START = 4
SHRINK = 0.8


class Slot:
    """A place at the gate, taken and given back by `async with`."""

    __slots__ = ("_pace",)

    def __init__(self, pace: Pace) -> None:
        self._pace = pace

    async def __aenter__(self) -> float:
        return await self._pace.enter()

    async def __aexit__(self, *_: object) -> None:
        self._pace.leave()


class Pace:
    """A gate that at most `limit` requests are in at once; `limit` moves between 1 and `most`."""

    def __init__(self, most: int, *, start: int = START, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = float(most)
        self.limit = float(min(start, most))
        self.throughput = Throughput(min(start, most))
        self.under_way = 0
        self.cuts = 0
        self._clock = clock
        self._closed_until = 0.0
        self._last_cut = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._alarm: asyncio.TimerHandle | None = None

    def slot(self) -> Slot:
        """A place, as `async with pace.slot() as sent`: waits for a free one; `sent` is when it was taken."""
        return Slot(self)

    async def enter(self) -> float:
        """Wait for a free place and take it; return when, which `pushed_back` wants to know."""
        if self._waiting or not self._free():
            await self._turn()
        else:
            self.under_way += 1
        now = self._clock()
        self.throughput.sent(now)
        return now

    def leave(self) -> None:
        """Give a place back."""
        self.under_way -= 1
        if self._waiting:
            self._admit()

    def worked(self) -> None:
        """A request came back well."""
        self.throughput.replied(self._clock())
        used = self.under_way >= int(self.limit)  # a limit that is not used says nothing
        if used and self.limit < self.most and self.throughput.pays(self.limit):
            self.limit = min(self.most, self.limit + (1.0 if not self.cuts else 1.0 / self.limit))

    def pushed_back(self, sent: float, wait: float = 0.0) -> None:
        """A request sent at `sent` was turned away; nobody sends for `wait` seconds."""
        now = self._clock()
        if sent > self._last_cut:
            self.limit = max(1.0, self.limit * SHRINK)
            self._last_cut = now
            self.cuts += 1
        self._closed_until = max(self._closed_until, now + wait)

    def close(self) -> None:
        """Let nobody in any more; those inside may end."""
        self._closed_until = float("inf")

    @property
    def closed_for(self) -> float:
        """Seconds until anything is sent again."""
        return max(0.0, self._closed_until - self._clock())

    async def _turn(self) -> None:
        """Wait until a place is given to us."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()
            raise

    def _free(self) -> bool:
        return self.under_way < int(self.limit) and not self.closed_for

    def _admit(self) -> None:
        """Let those who wait in, as far as there is place; while the gate is closed, come back when it opens."""
        while self._waiting and self._free():
            place = self._waiting.popleft()
            if not place.done():
                self.under_way += 1
                place.set_result(None)
        if self._waiting and 0 < self.closed_for < float("inf") and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(self.closed_for, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._admit()
