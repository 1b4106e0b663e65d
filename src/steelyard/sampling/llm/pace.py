"""How many requests are under way at once: more while it works, fewer when the server pushes back.

The limit doubles per round until the server first pushes back, then grows by one per round, and only while that pays: a
server that answers no faster for it has a queue (`Throughput`). A push back (429, 503, a timeout) multiplies the limit
by 0.8, once per burst: requests sent before the last cut carry no new information. A server that pushes every request
back is down, not crowded: the limit it sustained before is remembered, and once it works again the limit doubles per
round up to that. While the server has asked for time no request is sent; a waiter whose deadline is before the end of
that time fails at once. A server is left alone for `longest` seconds at most: if it has asked for more, one trial
request is sent then, and the others wait for its result.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from steelyard.sampling.llm.faults import PutOffError, SpentError

START = 4
SHRINK = 0.8
PART = 0.4  # a rate that grows with the limit lags one round, in which the limit doubles: half of it is healthy
FEWEST = 8  # replies that the rate is measured over, at least


class Pace:
    """Lets at most `limit` requests be under way at once; `limit` moves between 1 and `most`."""

    def __init__(
        self,
        most: int,
        *,
        start: int = START,
        longest: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`longest` is the most seconds for which the server is left alone."""
        self.longest = longest
        self.pauses = 0  # how often the server has asked for more time than that
        self.most = float(most)
        self.limit = float(min(start, most))
        self.throughput = Throughput(min(START, start, most))
        self.under_way = 0
        self.cuts = 0
        self._sustained = 0.0  # the limit after the last cut of a server that worked until then
        self._works = True  # whether a request succeeded since the last cut
        self._clock = clock
        self._closed_until = 0.0
        self._requested = 0.0  # seconds that the server asked for when sending was last paused
        self._requested_until = 0.0  # the end of the time that the server asked for, however far that is
        self._trial = False  # whether a single request must succeed before others are sent
        self._on_trial = False  # whether that request is under way
        self._trial_sent = math.nan
        self._last_cut = -math.inf
        self._waiting: deque[tuple[asyncio.Future[bool], float]] = deque()  # with the deadline of each waiter
        self._alarm: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def slot(self, until: float = math.inf) -> AsyncIterator[float]:
        """Hold a slot, which permits one request, as `async with pace.slot() as sent`; `sent` is when it was acquired.

        A waiter without a slot at the time `until` gets a SpentError.
        """
        sent = await self.enter(until)
        try:
            yield sent
        finally:
            self.leave(sent)

    async def enter(self, until: float = math.inf) -> float:
        """Wait for a free slot and acquire it; return the time, which `pushed_back` needs.

        If the server has asked for more time than there is until then, fail with a PutOffError at once.
        """
        if self._trial and self.closed_for and until < self._requested_until:
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
        """Release a slot that was acquired at `sent`."""
        self.under_way -= 1
        if sent == self._trial_sent:
            self._on_trial, self._trial_sent = False, math.nan
        if self._waiting:
            self._admit()

    def worked(self, sent: float = math.inf) -> None:
        """Record that a request sent at `sent` succeeded."""
        self.throughput.replied(self._clock())
        self._works = True
        if self._trial and sent >= self._trial_sent:
            self._trial = False
            self._admit()
        used = self.under_way >= int(self.limit)  # an unused limit shows nothing
        if not used or self.limit >= self.most:
            return
        if self.limit < self._sustained:
            self.limit = min(self._sustained, self.limit + 1.0)
        elif self.throughput.pays(self.limit):
            self.limit = min(self.most, self.limit + (1.0 if not self.cuts else 1.0 / self.limit))

    def pushed_back(self, sent: float, wait: float = 0.0, requested: float = 0.0) -> None:
        """Record that a request was pushed back: pause for `wait` of the `requested` seconds."""
        now = self._clock()
        if sent > self._last_cut:
            self.limit = max(1.0, self.limit * SHRINK)
            self._sustained, self._works = self.limit if self._works else self._sustained, False
            self._last_cut = now
            self.cuts += 1
        wait, was_open = min(wait, self.longest), now >= self._closed_until
        if now + wait > self._closed_until:
            self._closed_until, self._requested = now + wait, requested
        if requested > self.longest:
            self._requested_until, self._trial = now + requested, True
            self.pauses += was_open
            self._put_off()

    def close(self) -> None:
        """Send nothing any more; requests under way may finish."""
        self._closed_until = math.inf

    @property
    def closed_for(self) -> float:
        """Seconds until anything is sent again."""
        return max(0.0, self._closed_until - self._clock())

    @property
    def requested_pause(self) -> float:
        """Seconds that the server has asked for, while nothing is sent."""
        closed = self.closed_for
        return max(closed, self._requested_until - self._clock()) if closed and self._trial else closed

    async def _turn(self, until: float) -> bool:
        """Wait for a slot, at most until the deadline; return whether the request is the trial."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        left = until - self._clock()
        alarm = loop.call_later(max(0.0, left), self._too_late, waiter) if left < math.inf else None
        self._waiting.append((waiter, until))
        if left > 0:
            self._admit()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and not waiter.exception():
                self._on_trial = self._on_trial and not waiter.result()
                self.leave()
            raise
        finally:
            if alarm:
                alarm.cancel()

    def _too_late(self, waiter: asyncio.Future[bool]) -> None:
        """Fail a waiter whose deadline has passed, unless sending has ended for good."""
        if waiter.done() or self._closed_until == math.inf:
            return
        self._forget(waiter)
        seconds = self.closed_for and self._requested
        waiter.set_exception(
            SpentError(f"the server asked for {seconds:,g} s" if seconds else "the deadline passed while waiting")
        )

    def _put_off(self) -> None:
        """Fail the waiters whose deadline is before the end of the time that the server asked for."""
        for waiter, until in list(self._waiting):
            if until < self._requested_until and not waiter.done():
                self._forget(waiter)
                waiter.set_exception(self._put_off_error())

    def _put_off_error(self) -> PutOffError:
        return PutOffError(f"the server asked for {self._requested:,g} s", self.closed_for)

    def _forget(self, waiter: asyncio.Future[bool]) -> None:
        self._waiting = deque(entry for entry in self._waiting if entry[0] is not waiter)

    def _free(self) -> bool:
        return self.under_way < int(self.limit) and not self.closed_for and not (self._trial and self._on_trial)

    def _take(self) -> bool:
        """Acquire a slot; return whether the request is the trial."""
        self.under_way += 1
        self._on_trial = self._trial
        return self._trial

    def _admit(self) -> None:
        """Give free slots to waiters; during a pause, come back at its end."""
        while self._waiting and self._free():
            waiter, _ = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(self._take())
        if self._waiting and 0 < self.closed_for < math.inf and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(self.closed_for, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._admit()


class Throughput:
    """Measures whether more requests at once pay; `start` is how many there were at first.

    The rate of replies is compared with that of the first S requests: a server that works on all L requests at once
    answers L / S times as many a second. While the rate has not reached a part of that, more requests would only wait
    in the server's queue (llama.cpp and Ollama never send a 429) until they time out.
    """

    def __init__(self, start: int) -> None:
        self.start = start
        self._began: float | None = None
        self._first: float | None = None  # replies per second, for each request under way at the start
        self._times: deque[float] = deque(maxlen=64)
        self._count = 0

    def sent(self, now: float) -> None:
        """Record a request; the clock starts with the first."""
        if self._began is None:
            self._began = now

    def replied(self, now: float) -> None:
        self._times.append(now)
        self._count += 1
        if self._count == self.start and self._began is not None:
            self._first = 1.0 / max(now - self._began, 1e-9)

    def pays(self, limit: float) -> bool:
        """Whether the rate has kept up with the limit so far."""
        if self._first is None:
            return False
        count = min(len(self._times), max(FEWEST, int(limit)))
        if count < FEWEST:
            return True
        rate = (count - 1) / max(self._times[-1] - self._times[-count], 1e-9)
        return rate >= PART * self._first * limit
