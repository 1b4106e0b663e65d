"""How many requests are under way at once: more while it works, fewer when the server pushes back.

The number doubles in a round until the server first pushes back, then grows by one per round, and only while that pays:
a server that answers no faster for it has a queue (throughput.py). A push back (429, 503, a
timeout) takes it to 0.8 of itself, once a burst: requests that were sent before the last cut say nothing new. A server
that pushes all back is down, not crowded: what it bore before is remembered, and once it works again the number doubles
in a round up to that. While the server has asked for time nobody sends anything; whose own time is over by then is told
so, and does not wait for that. A server is left alone for `longest` seconds at most: where it has asked for more, one
trial request is sent then, and the others wait for what becomes of it.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable

from steelyard.sampling.llm.faults import PutOffError, SpentError
from steelyard.sampling.llm.throughput import Throughput

START = 4
SHRINK = 0.8


class Slot:
    """A place at the gate, taken and given back by `async with`."""

    __slots__ = ("_pace", "_sent", "_until")

    def __init__(self, pace: Pace, until: float) -> None:
        self._pace, self._until, self._sent = pace, until, math.nan

    async def __aenter__(self) -> float:
        self._sent = await self._pace.enter(self._until)
        return self._sent

    async def __aexit__(self, *_: object) -> None:
        self._pace.leave(self._sent)


class Pace:
    """A gate that at most `limit` requests are in at once; `limit` moves between 1 and `most`."""

    def __init__(
        self,
        most: int,
        *,
        start: int = START,
        longest: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`longest` is how many seconds the server is left alone at most."""
        self.longest = longest
        self.pauses = 0  # how often the server has asked for more time than that
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
        self._asked_until = 0.0  # when the server wants to be asked again, however far that is
        self._trial = False  # whether one request alone has to succeed before others are sent
        self._on_trial = False  # whether that request is under way
        self._trial_sent = math.nan
        self._last_cut = -math.inf
        self._waiting: deque[tuple[asyncio.Future[bool], float]] = deque()  # and until when each waits
        self._alarm: asyncio.TimerHandle | None = None

    def slot(self, until: float = math.inf) -> Slot:
        """A place, as `async with pace.slot() as sent`: waits for a free one; `sent` is when it was taken.

        Whoever has none at the time `until` is told so by a SpentError.
        """
        return Slot(self, until)

    async def enter(self, until: float = math.inf) -> float:
        """Wait for a free place and take it; return when, which `pushed_back` wants to know.

        Where the server has asked for more time than there is until then, that is a PutOffError at once.
        """
        if self._trial and self.closed_for and until < self._asked_until:
            raise self._put_off_error()
        if self._waiting or not self._free() or until <= self._clock():
            trial = await self._turn(until)
        else:
            trial = self._take()
        now = self._clock()
        if trial:
            self._trial_sent = now
        self.throughput.sent(now)
        return now

    def leave(self, sent: float = math.nan) -> None:
        """Give a place back that was taken at `sent`."""
        self.under_way -= 1
        if sent == self._trial_sent:
            self._on_trial, self._trial_sent = False, math.nan
        if self._waiting:
            self._admit()

    def worked(self, sent: float = math.inf) -> None:
        """A request that was sent at `sent` came back well."""
        self.throughput.replied(self._clock())
        self._works = True
        if self._trial and sent >= self._trial_sent:
            self._trial = False
            self._admit()
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
        wait, was_open = min(wait, self.longest), now >= self._closed_until
        if now + wait > self._closed_until:
            self._closed_until, self._asked = now + wait, asked
        if asked > self.longest:
            self._asked_until, self._trial = now + asked, True
            self.pauses += was_open
            self._put_off()

    def close(self) -> None:
        """Let nobody in any more; those inside may end."""
        self._closed_until = math.inf

    @property
    def closed_for(self) -> float:
        """Seconds until anything is sent again."""
        return max(0.0, self._closed_until - self._clock())

    @property
    def asked_for(self) -> float:
        """Seconds that the server has asked for, while nothing is sent."""
        closed = self.closed_for
        return max(closed, self._asked_until - self._clock()) if closed and self._trial else closed

    async def _turn(self, until: float) -> bool:
        """Wait for a place, or until it is too late for one; return whether the request is the trial."""
        loop = asyncio.get_running_loop()
        place: asyncio.Future[bool] = loop.create_future()
        left = until - self._clock()
        alarm = loop.call_later(max(0.0, left), self._too_late, place) if left < math.inf else None
        self._waiting.append((place, until))
        if left > 0:
            self._admit()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and not place.exception():
                self._on_trial = self._on_trial and not place.result()
                self.leave()
            raise
        finally:
            if alarm:
                alarm.cancel()

    def _too_late(self, place: asyncio.Future[bool]) -> None:
        """Tell one who waits why there was no place for him in time; a gate that is closed for good tells nobody."""
        if place.done() or self._closed_until == math.inf:
            return
        self._forget(place)
        asked = self.closed_for and self._asked
        place.set_exception(
            SpentError(f"the server asked for {asked:,g} s" if asked else "all the time went by waiting")
        )

    def _put_off(self) -> None:
        """Fail those who wait and have no time until the server wants to be asked again."""
        for place, until in list(self._waiting):
            if until < self._asked_until and not place.done():
                self._forget(place)
                place.set_exception(self._put_off_error())

    def _put_off_error(self) -> PutOffError:
        return PutOffError(f"the server asked for {self._asked:,g} s", self.closed_for)

    def _forget(self, place: asyncio.Future[bool]) -> None:
        self._waiting = deque(waiter for waiter in self._waiting if waiter[0] is not place)

    def _free(self) -> bool:
        return self.under_way < int(self.limit) and not self.closed_for and not (self._trial and self._on_trial)

    def _take(self) -> bool:
        """Take a place; return whether the request is the trial."""
        self.under_way += 1
        self._on_trial = self._trial
        return self._trial

    def _admit(self) -> None:
        """Let those who wait in, as far as there is place; while the gate is closed, come back when it opens."""
        while self._waiting and self._free():
            place, _ = self._waiting.popleft()
            if not place.done():
                place.set_result(self._take())
        if self._waiting and 0 < self.closed_for < math.inf and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(self.closed_for, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._admit()
