"""Upstream streams that never end, or contain unrequested choices, use little memory and end with an error."""

from __future__ import annotations

from http.client import IncompleteRead

import pytest

from steelyard.gateway.upstream import upstream_reply
from steelyard.gateway.upstream.upstream_reply import EventLines
from steelyard.sampling.llm.faults import TooLargeError
from tests.gateway.gateways import MEASURES_MEMORY, Answered, Gateway, gateway, process, resident
from tests.upstreams import FaultUpstream


def ending(running: Gateway, model: str) -> list[object]:
    """The events of a stream that is broken off."""
    with pytest.raises(IncompleteRead) as cut:
        running.chat("now", model, stream=True)
    return Answered(200, {}, cut.value.partial).events


@pytest.mark.parametrize(("kind", "why"), [("data", "longer than"), ("line", "longer than"), ("nested", "values")])
def test_an_endless_event_ends_with_an_error_and_takes_little_memory(
    upstream: FaultUpstream, kind: str, why: str
) -> None:
    model = f"fault:endless-stream@{kind}?now"
    with process(upstream.url, "--method", "majority", model=model) as running:
        assert running.send("GET", "/readyz").status == 200
        before = resident(running) if MEASURES_MEMORY else 0.0
        *_, last = ending(running, model)
        assert why in str(last)
        assert resident(running, peak=True) - before < 64


def test_a_stream_without_end_is_ended_at_its_limit(upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream_reply, "LONGEST_STREAM", 2**20)
    model = "fault:endless-stream@events?now"
    with gateway(upstream.url, model=model) as running:
        *_, last = ending(running, model)
    assert "the stream is longer than 1 MB" in str(last)


@pytest.mark.parametrize("line", [b"data:\n", b"data: \r\n", b"data:x\r"])
def test_every_data_line_counts_also_an_empty_one(line: bytes) -> None:
    lines = EventLines()
    assert not list(lines.feed(line * 2**10))
    with pytest.raises(TooLargeError):
        list(lines.feed(line * 2**20))


def test_choices_that_nobody_asked_for_are_dropped(upstream: FaultUpstream) -> None:
    model = "fault:far-index?now"
    with gateway(upstream.url, model=model) as running:
        events = running.chat("now", model, stream=True).events
    assert events[-1] == "[DONE]"
    assert {choice["index"] for event in events[:-1] for choice in event["choices"]} == {0}
