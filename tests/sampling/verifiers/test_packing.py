"""Packs hold every response as if it stood alone behind its question, and read a shared beginning once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.sampling.verifiers.protocol import Rendered
from steelyard.sampling.verifiers.runners.local import ahead
from steelyard.sampling.verifiers.runners.packing import Pack, branches, packed, packs
from tests.waiting import PATIENCE


@st.composite
def rendered(draw: st.DrawFn) -> Rendered:
    ids = draw(st.lists(st.integers(0, 2), min_size=1, max_size=12))  # few ids, so that beginnings are shared
    positions = draw(st.sets(st.integers(0, len(ids) - 1), min_size=1))
    return Rendered(ids, sorted(positions))


RESPONSES = st.lists(st.tuples(rendered(), st.integers(0, 3)), min_size=1, max_size=12)


def seen_from(pack: Pack, token: int) -> tuple[list[int], list[int]]:
    """The ids and the positions that a token attends to, itself last."""
    segment = int(np.searchsorted(pack.query_ends, token, side="right")) - 1
    keys = pack.keys[pack.key_ends[segment] : pack.key_ends[segment + 1]]
    behind = len(keys) - (pack.query_ends[segment + 1] - pack.query_ends[segment])
    visible = keys[: behind + token - pack.query_ends[segment] + 1]
    return pack.ids[visible].tolist(), pack.positions[visible].tolist()


@given(RESPONSES, st.integers(1, 40))
def test_what_is_read_sees_its_response_up_to_there_and_nothing_else(
    responses: list[tuple[Rendered, int]], budget: int
) -> None:
    some = branches([each for each, _ in responses], [question for _, question in responses])
    found = []
    for batch in packs(some, budget):
        pack = packed([some[i] for i in batch])
        assert len(pack.ids) <= budget or len(batch) == 1
        read = iter(pack.read.tolist())
        for i in batch:
            for position in some[i].rendered.positions:
                ids, positions = seen_from(pack, next(read))
                assert ids == some[i].rendered.ids[: position + 1]
                assert positions == list(range(position + 1))
        assert next(read, None) is None
        found += batch
    assert sorted(found) == list(range(len(responses)))


def test_a_shared_question_is_read_once_per_pack_and_what_follows_the_last_step_never() -> None:
    some = branches([Rendered([7] * 100 + [i, i, 0, 0], [101]) for i in range(1, 9)], ["same"] * 8)
    assert [len(packed([some[i] for i in batch]).ids) for batch in packs(some, 1000)] == [100 + 8 * 2]
    assert [len(packed([some[i] for i in batch]).ids) for batch in packs(some, 108)] == [108, 108]


def test_the_next_window_is_prepared_while_this_one_is_used() -> None:
    begun: list[int] = []
    second = threading.Event()

    def prepare(number: int) -> int:
        begun.append(number)
        if number == 1:
            second.set()
        return number * 10

    async def used() -> list[int]:
        found = []
        async for each in ahead(iter(range(4)), prepare):
            if each == 0:
                await asyncio.to_thread(second.wait, PATIENCE)
                assert second.is_set(), "the second one waits for the first to be used"
            found.append(each)
        return found

    assert asyncio.run(used()) == [0, 10, 20, 30]
    assert begun == [0, 1, 2, 3]


def test_windows_are_taken_where_the_caller_is_and_faults_come_out() -> None:
    threads = set()

    def raw() -> Iterator[int]:
        for i in range(3):
            threads.add(threading.get_ident())
            yield i

    async def used() -> None:
        async for _ in ahead(raw(), lambda number: 1 // (2 - number)):
            pass

    with pytest.raises(ZeroDivisionError):
        asyncio.run(used())
    assert threads == {threading.get_ident()}
