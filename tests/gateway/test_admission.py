"""Slots for requests: one of several keys never takes the last share; a free slot goes to the key with the fewest."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from steelyard.gateway.limits.admission import Admission
from steelyard.gateway.messages.api_errors import ApiError

NOISY, OTHER = 0, 1


async def held(admission: Admission, key: int, order: list[int], leave: asyncio.Event) -> None:
    """Hold a slot until told to leave; `order` lists the keys in the order of admission."""
    async with admission.slot(key):
        order.append(key)
        await leave.wait()


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def served(keys: int) -> tuple[list[int], list[int]]:
    """Ten requests of a noisy key and then two of another for four places: who came in at once, and who then."""
    admission, order, leave = Admission(4, 20, keys), list[int](), asyncio.Event()
    tasks = [asyncio.create_task(held(admission, key, order, leave)) for key in [NOISY] * 10 + [OTHER] * 2]
    await settled()
    at_once = list(order)
    leave.set()
    await asyncio.gather(*tasks)
    assert (admission.in_flight, admission.waiting) == (0, 0)
    return at_once, order[len(at_once) :]


def test_with_two_keys_one_of_them_holds_at_most_half_of_the_places() -> None:
    at_once, later = asyncio.run(served(2))
    assert sorted(at_once) == [NOISY, NOISY, OTHER, OTHER]
    assert later == [NOISY] * 8


def test_with_one_key_there_is_nothing_to_share() -> None:
    at_once, later = asyncio.run(served(1))
    assert at_once == [NOISY] * 4
    assert later[0] == OTHER  # it holds fewest
    assert len(later) == 8


def test_a_key_of_several_does_not_fill_the_queue() -> None:
    async def run() -> None:
        admission, order, leave = Admission(2, 4, 2), list[int](), asyncio.Event()
        tasks = [asyncio.create_task(held(admission, NOISY, order, leave)) for _ in range(4)]
        await settled()
        assert (admission.in_flight, admission.waiting) == (1, 2)
        assert [task.done() for task in tasks] == [False, False, False, True]
        refused = tasks.pop().exception()
        assert isinstance(refused, ApiError)
        assert refused.message == "1 requests with this key are in flight and 2 are waiting: retry later"
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(admission.slot(OTHER))
            assert admission.in_flight == 2
        leave.set()
        await asyncio.gather(*tasks)

    asyncio.run(run())


@pytest.mark.parametrize("keys", [1, 2])
def test_whoever_leaves_while_waiting_gives_no_place_away_twice(keys: int) -> None:
    async def run() -> None:
        admission, order, leave = Admission(1, 4, keys), list[int](), asyncio.Event()
        first, second, third = (asyncio.create_task(held(admission, key, order, leave)) for key in (0, 0, 0))
        await settled()
        leave.set()
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(first, second, third, return_exceptions=True)
        assert (admission.in_flight, admission.waiting) == (0, 0)

    asyncio.run(run())
