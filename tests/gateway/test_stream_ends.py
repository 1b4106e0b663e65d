"""Where a stream that is passed through may end: all its choices have finished, and what comes later is no news."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.gateways import gateway
from tests.gateway.outcomes import Outcome, asked
from tests.upstreams import FaultUpstream


def streamed(upstream: FaultUpstream, fault: str, **more: Any) -> Outcome:
    with gateway(upstream.url, model=f"fault:{fault}") as running:
        return asked(running, "where does it end?", model=f"fault:{fault}", stream=True, **more)


def test_a_chunk_behind_the_finish_reason_does_not_open_a_choice_again(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:epilogue") as running:
        events = running.chat("where does it end?", model="fault:epilogue", stream=True, n=2).events
    assert events[-1] == "[DONE]"
    assert events[-2]["usage"] == {"completion_tokens": 3}


def test_a_stream_that_ends_before_its_second_choice_begins_is_cut(upstream: FaultUpstream) -> None:
    assert streamed(upstream, "first-choice", n=2).end == "broken"


@pytest.mark.parametrize(("fault", "n"), [("first-choice", 1), ("first-choice@done", 2)])
def test_a_stream_with_one_choice_is_whole_where_no_other_is_due(upstream: FaultUpstream, fault: str, n: int) -> None:
    """An upstream that says that it is done has told us all, whether or not it knows `n`."""
    assert streamed(upstream, fault, n=n).end == "whole"


def test_choices_by_the_other_name_of_n_all_come_back(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:alias") as running:
        assert len(running.chat(model="fault:alias", n_cmpl=2).json["choices"]) == 2
