"""How many requests are under way: grows while it works, shrinks once a burst, waits when told to."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

import pytest

from steelyard.sampling.llm.faults import (
    BusyError,
    PutOffError,
    RefusedError,
    SpentError,
    TryError,
)
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.retry import in_turn, persistently, retry_after


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def _round(pace: Pace, count: int) -> int:
    """Send `count` requests at once; return how many were under way together at most."""
    most = 0

    async def one() -> None:
        nonlocal most
        async with pace.slot():
            most = max(most, pace.under_way)
            await asyncio.sleep(0)
            pace.worked()

    await asyncio.gather(*(one() for _ in range(count)))
    return most


def run(task: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await task()

    asyncio.run(main())


def served(pace: Pace, clock: Clock, count: int, seconds: float, at_once: int) -> list[int]:
    """Serve `count` requests on a server that works on `at_once` of them and queues the rest; return the limits."""
    waiting = 0
    working: list[float] = []
    limits: list[int] = []
    for _ in range(count):
        while pace.under_way < int(pace.limit):
            pace.under_way += 1
            pace.throughput.sent(clock.now)
            waiting += 1
        while waiting and len(working) < at_once:
            waiting -= 1
            working.append(clock.now + seconds * (1 + 0.3 * (len(limits) % 3)))
        working.sort()
        clock.now = max(clock.now, working.pop(0))
        pace.worked()
        pace.under_way -= 1
        limits.append(int(pace.limit))
    return limits


def test_the_limit_grows_to_the_most_on_a_server_that_takes_them_all() -> None:
    clock = Clock()
    limits = served(Pace(64, clock=clock), clock, 600, 1.0, at_once=1000)
    assert limits[0] == 4
    assert limits[-1] == 64
    assert limits.index(64) < 250


@pytest.mark.parametrize(("at_once", "most"), [(1, 12), (8, 32)])
def test_the_limit_stays_low_on_a_server_that_queues(at_once: int, most: int) -> None:
    clock = Clock()
    limits = served(Pace(256, clock=clock), clock, 2000, 1.0, at_once=at_once)
    assert at_once <= max(limits) <= most


def test_the_limit_is_never_exceeded_and_one_that_is_not_used_does_not_grow() -> None:
    async def task() -> None:
        pace = Pace(64, start=8)
        assert await _round(pace, 4) == 4
        assert pace.limit == 8
        assert await _round(pace, 500) <= 64
        assert pace.under_way == 0

    run(task)


def test_a_burst_of_refusals_shrinks_the_limit_once() -> None:
    clock = Clock()
    pace = Pace(100, start=100, clock=clock)
    for _ in range(50):
        pace.pushed_back(sent=99.0)
    assert pace.limit == 80
    clock.now = 101.0
    pace.pushed_back(sent=100.5)
    assert pace.limit == 64


def test_after_a_push_back_the_limit_grows_by_one_a_round() -> None:
    clock = Clock()
    pace = Pace(100, start=10, clock=clock)
    pace.pushed_back(sent=clock.now)
    limits = served(pace, clock, 40, 1.0, at_once=100)
    assert limits[0] == 8
    assert 10 <= limits[-1] <= 13


def test_the_limit_never_falls_below_one() -> None:
    clock = Clock()
    pace = Pace(4, clock=clock)
    for i in range(40):
        clock.now += 1
        pace.pushed_back(sent=100.5 + i)
    assert pace.limit == 1


def test_nobody_sends_while_the_server_has_requested_pause_time() -> None:
    async def task() -> None:
        pace = Pace(4)
        before = time.monotonic()
        pace.pushed_back(sent=before, wait=0.1)
        await asyncio.gather(*(_round(pace, 1) for _ in range(3)))
        assert time.monotonic() - before >= 0.1

    run(task)


def test_places_of_those_who_gave_up_waiting_are_given_to_others() -> None:
    async def task() -> None:
        pace = Pace(1)
        release = asyncio.Event()

        async def hold() -> None:
            async with pace.slot():
                await release.wait()

        tasks = [asyncio.create_task(hold()) for _ in range(5)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        tasks[3].cancel()
        await asyncio.sleep(0)
        release.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert pace.under_way == 0
        assert await _round(pace, 1) == 1

    run(task)


@pytest.mark.parametrize(("wait", "says"), [(3000.0, "the server asked for 3,000 s"), (0.0, "the deadline passed")])
def test_whoever_has_no_place_in_time_is_told_why(wait: float, says: str) -> None:
    async def task() -> None:
        pace = Pace(1)
        async with pace.slot() as sent:
            pace.pushed_back(sent, wait, wait)
            with pytest.raises(SpentError, match=says):
                await pace.enter(time.monotonic() + 0.05)
            with pytest.raises(SpentError, match=says):
                await pace.enter(time.monotonic() - 1)
        assert pace.under_way == 0
        assert not pace._waiting

    run(task)


@pytest.mark.parametrize(("asked", "least"), [(None, 1.0), (0.0, 1.0), (0.5, 1.0), (7.0, 7.0), (1e9, 3600.0)])
def test_a_server_can_only_make_our_own_pause_longer(
    monkeypatch: pytest.MonkeyPatch, asked: float | None, least: float
) -> None:
    """Sample, probe and score: all wait at a gate that is closed as long as `in_turn` says."""
    monkeypatch.setattr("steelyard.sampling.llm.retry.random.uniform", lambda *_: 1.0)
    clock = Clock()
    pace = Pace(4, clock=clock)

    async def busy() -> None:
        raise BusyError("HTTP 429", asked)

    async def task() -> None:
        with pytest.raises(BusyError):
            await in_turn(pace, math.inf, 1, busy)

    run(task)
    assert pace.closed_for == least


def test_a_request_is_put_off_twenty_times_and_tried_as_often_as_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.sampling.llm.retry.FIRST", 0.0)
    sent: list[TryError] = []

    def failing(error: TryError) -> Callable[[], Awaitable[None]]:
        async def send() -> None:
            sent.append(error)
            raise error

        return send

    for error, times in ((BusyError("busy", 0.0), 21), (TryError("broken"), 3), (RefusedError("no", 400), 1)):
        sent.clear()

        async def task(error: TryError = error) -> None:
            with pytest.raises(type(error)):
                await persistently(Pace(1), failing(error), tries=3)

        run(task)
        assert len(sent) == times


@pytest.mark.parametrize("text", ["", "soon", "NaN", "inf", "Mon, 99 Foo", "-"])
def test_a_retry_after_that_cannot_be_read_is_none(text: str) -> None:
    assert retry_after({"Retry-After": text}) is None


@pytest.mark.parametrize(("text", "seconds"), [("0", 0.0), ("1.5", 1.5), ("-3", 0.0), ("1e9", 1e9)])
def test_a_retry_after_is_never_before_now(text: str, seconds: float) -> None:
    assert retry_after({"retry-after": text}) == seconds


def test_a_date_is_held_against_the_clock_of_the_server() -> None:
    headers = {"date": "Wed, 01 Jan 2020 00:00:00 GMT", "retry-after": "Wed, 01 Jan 2020 00:00:07 GMT"}
    assert retry_after(headers) == 7.0
    assert retry_after({"retry-after": "Wed, 01 Jan 2020 00:00:07 GMT"}) == 0.0


@pytest.mark.parametrize("most", [64, 4096])
def test_after_an_outage_the_limit_is_back_within_seconds(most: int) -> None:
    """All requests of a minute are pushed back; then the server takes 200 at once, 0.2 s each, as it did before."""
    clock = Clock()
    pace = Pace(most, start=most, clock=clock)
    pace.worked()
    for _ in range(60):
        clock.now += 1.0
        pace.pushed_back(clock.now)
    assert pace.limit == 1
    began = clock.now
    limits = served(pace, clock, 400, 0.2, at_once=200)
    assert max(limits) >= min(most, 200) * 0.75
    assert clock.now - began < 6


def test_a_server_that_pushes_some_back_is_requested_pause_little_more_than_it_bears() -> None:
    clock = Clock()
    pace = Pace(64, start=64, clock=clock)
    for _ in range(40):
        clock.now += 1.0
        pace.worked()
        pace.pushed_back(clock.now)
    assert pace.limit == 1
    assert max(served(pace, clock, 30, 0.2, at_once=200)) <= 8


def test_a_server_that_asks_for_a_day_is_left_alone_for_the_longest_pause_and_then_tried_by_one() -> None:
    async def task() -> None:
        clock = Clock()
        pace = Pace(8, start=8, longest=60.0, clock=clock)
        old = await pace.enter()
        pace.pushed_back(sent=clock.now, wait=3600.0, requested=86400.0)
        assert (pace.closed_for, pace.requested_pause, pace.pauses) == (60.0, 86400.0, 1)
        waiting = asyncio.create_task(pace.enter(clock.now + 600))
        pace.pushed_back(sent=clock.now, wait=3600.0, requested=86400.0)
        await asyncio.sleep(0)
        assert pace.pauses == 1
        clock.now += 61
        waiting.cancel()
        trial = await pace.enter()
        pace.worked(old)  # of an earlier request: it says nothing about what is sent now
        others = [asyncio.create_task(pace.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        assert pace.under_way == 2
        pace.leave(trial)  # a trial that fails in another way is followed by the next one
        await asyncio.sleep(0)
        assert pace.under_way == 2
        pace.worked(await next(each for each in others if each.done()))
        await asyncio.gather(*others)
        assert pace.under_way == 4

    run(task)


def test_a_trial_that_is_cancelled_gives_way_to_the_next_request() -> None:
    async def task() -> None:
        clock = Clock()
        pace = Pace(8, start=8, longest=60.0, clock=clock)
        pace.pushed_back(sent=clock.now, wait=60.0, requested=86400.0)
        clock.now += 61

        async def hold() -> None:
            async with pace.slot():
                await asyncio.sleep(3600)

        first, second = asyncio.create_task(hold()), asyncio.create_task(hold())
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await asyncio.sleep(0)
        assert pace.under_way == 1
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        assert pace.under_way == 0

    run(task)


def test_those_who_wait_are_put_off_at_once_where_the_server_asks_for_longer_than_they_have() -> None:
    async def task() -> None:
        pace = Pace(1, start=1, longest=60.0)
        await pace.enter()
        now = time.monotonic()
        short, long = asyncio.create_task(pace.enter(now + 600)), asyncio.create_task(pace.enter())
        await asyncio.sleep(0)
        pace.pushed_back(sent=now, wait=3600.0, requested=86400.0)
        with pytest.raises(PutOffError):
            await short
        assert not long.done()
        long.cancel()

    run(task)
