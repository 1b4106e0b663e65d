"""Samples of a request when something about single ones is odd."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, cast

import pytest

from steelyard.gateway.caps import Caps
from steelyard.gateway.messages.chat_request import read_chat
from steelyard.gateway.messages.json_body import read_members
from steelyard.gateway.upstream.samples import Replays, Sample
from steelyard.gateway.upstream.source import Source
from steelyard.gateway.vote.sample_request import NOT_SENT, SampleRequest, SampleSpec
from steelyard.gateway.vote.scoring import ScoringError, Verified
from steelyard.sampling.llm.completion_json import Choice
from tests.waiting import PATIENCE, with_more_time

SAID = Choice("", "tool_calls", None, None)


class Slow(SampleRequest):
    """One sample of which never comes."""

    async def _batch(self, first: int, count: int) -> list[Sample]:
        if first == 2:
            await asyncio.sleep(600)
        return [Sample(first + j, choice=SAID) for j in range(count)]


def test_a_sample_that_is_late_costs_none_of_the_others() -> None:
    async def run(seconds: float) -> Sequence[Sample]:
        source = Source("", "m", cast(Any, None), n=1, limit=1)
        spec = SampleSpec(4, time.monotonic() + seconds, scored=False, at_once=True)
        return await Slow(source, cast(Any, None), spec, "id")._one_by_one(range(4))

    def check(seconds: float) -> None:
        found = asyncio.run(run(seconds))
        assert [sample.choice is not None for sample in found] == [True, True, False, True]
        assert found[2].error is not None

    with_more_time(check, 0.2)


def test_different_tool_calls_under_one_id_are_no_replays_and_the_same_are() -> None:
    def called(number: int, argument: str) -> Sample:
        message = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": argument}}]}
        return Sample(number, choice=SAID, raw={"message": message}, response="same")

    replays = Replays()
    assert [each.error for each in replays.resolve(called(0, "1"))] == [None]
    assert [each.error for each in replays.resolve(called(1, "2"))] == [None]
    assert [each.error is None for each in replays.resolve(called(2, "1"))] == [False]


@pytest.mark.parametrize("name", ["n_cmpl", "best_of"])
def test_every_name_for_n_counts_as_samples_and_none_is_sent_with_each_sample(name: str) -> None:
    body = f'{{"model": "m", "messages": [{{"role": "user", "content": "?"}}], "{name}": 5}}'
    assert read_chat(read_members(body.encode()), Caps()).max_samples == 5
    assert name in NOT_SENT


def test_whatever_a_verifier_raises_is_a_score_that_is_not_there() -> None:
    async def broken() -> Any:
        raise RuntimeError("out of memory")

    async def run() -> None:
        verified = Verified(broken, score="prm", split="blank-lines", timeout=PATIENCE)
        await verified.score(
            "?", Sample(0, choice=Choice("One step.", "stop", None, None)), time.monotonic() + PATIENCE
        )

    with pytest.raises(ScoringError, match="the verifier failed: RuntimeError"):
        asyncio.run(run())
