"""How many requests are under way at once: more while it works, fewer when the server pushes back.

The number doubles in a round until the server first pushes back, then grows by one per round, and only while that pays:
a server that answers no faster for it has a queue (throughput.py). A push back (429, 503, a
timeout) takes it to 0.8 of itself, once a burst: requests that were sent before the last cut say nothing new. A server
that pushes all back is down, not crowded: what it bore before is remembered, and once it works again the number doubles
in a round up to that. While the server has asked for time nobody sends anything; whose own time is over by then is told
so, and does not wait for that.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable

from steelyard.llm.faults import SpentError
from steelyard.llm.throughput import Throughput

START = 4
SHRINK = 0.8


class Slot:
    """A place at the gate, taken and given back by `async with`."""

    __slots__ = ("_pace", "_until")

    def __init__(self, pace: Pace, until: float) -> None:
        self._pace, self._until = pace, until

    async def __aenter__(self) -> float:
        return await self._pace.enter(self._until)

    async def __aexit__(self, *_: object) -> None:
        self._pace.leave()


class Pace:
    """A gate that at most `limit` requests are in at once; `limit` moves between 1 and `most`."""

    def __init__(self, most: int, *, start: int = START, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = float(most)
        self.limit = float(min(start, most))
        self.throughput = Throughput(min(START, start, most))
        self.under_way = 0
        self.cuts = 0
        self._bore = 0.0  # the limit after the last cut of a server that worked until then
        self._works = True  # whether a request came back well since the last cut
        self._clock = clock
        self._closed_until = 0.0
        self._asked = 0.0  # seconds the server named when it last closed the gate
        self._last_cut = -math.inf
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._alarm: asyncio.TimerHandle | None = None

    def slot(self, until: float = math.inf) -> Slot:
        """A place, as `async with pace.slot() as sent`: waits for a free one; `sent` is when it was taken.

        Whoever has none at the time `until` is told so by a SpentError.
        """
        return Slot(self, until)

    async def enter(self, until: float = math.inf) -> float:
        """Wait for a free place and take it; return when, which `pushed_back` wants to know."""
        if self._waiting or not self._free() or until <= self._clock():
            await self._turn(until)
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
        self._works = True
        used = self.under_way >= int(self.limit)  # a limit that is not used says nothing
        if not used or self.limit >= self.most:
            return
        if self.limit < self._bore:
            self.limit = min(self._bore, self.limit + 1.0)
        elif self.throughput.pays(self.limit):
            self.limit = min(self.most, self.limit + (1.0 if not self.cuts else 1.0 / self.limit))

    def pushed_back(self, sent: float, wait: float = 0.0, asked: float = 0.0) -> None:
        """A request sent at `sent` was turned away; nobody sends for `wait` seconds. The server `asked` for so many."""
        now = self._clock()
        if sent > self._last_cut:
            self.limit = max(1.0, self.limit * SHRINK)
            self._bore, self._works = self.limit if self._works else self._bore, False
            self._last_cut = now
            self.cuts += 1
        if now + wait > self._closed_until:
            self._closed_until, self._asked = now + wait, asked

    def close(self) -> None:
        """Let nobody in any more; those inside may end."""
        self._closed_until = math.inf

    @property
    def closed_for(self) -> float:
        """Seconds until anything is sent again."""
        return max(0.0, self._closed_until - self._clock())

    async def _turn(self, until: float) -> None:
        """Wait until a place is given to us, or until it is too late for one."""
        loop = asyncio.get_running_loop()
        place: asyncio.Future[None] = loop.create_future()
        left = until - self._clock()
        alarm = loop.call_later(max(0.0, left), self._too_late, place) if left < math.inf else None
        self._waiting.append(place)
        if left > 0:
            self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and not place.exception():
                self.leave()
            raise
        finally:
            if alarm:
                alarm.cancel()

    def _too_late(self, place: asyncio.Future[None]) -> None:
        """Tell one who waits why there was no place for him in time; a gate that is closed for good tells nobody."""
        if place.done() or self._closed_until == math.inf:
            return
        self._waiting.remove(place)
        asked = self.closed_for and self._asked
        place.set_exception(
            SpentError(f"the server asked for {asked:,g} s" if asked else "all the time went by waiting")
        )

    def _free(self) -> bool:
        return self.under_way < int(self.limit) and not self.closed_for

    def _admit(self) -> None:
        """Let those who wait in, as far as there is place; while the gate is closed, come back when it opens."""
        while self._waiting and self._free():
            place = self._waiting.popleft()
            if not place.done():
                self.under_way += 1
                place.set_result(None)
        if self._waiting and 0 < self.closed_for < math.inf and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(self.closed_for, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._admit()
