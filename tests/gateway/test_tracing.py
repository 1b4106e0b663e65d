"""`steelyard serve` as a process that exports to a real collector: a span per request, and the event of every vote."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import steelyard as sy
from tests.gateway.gateways import KEY, VOTE, Gateway, process
from tests.sampling.telemetry.collector import Collector, attributes, collector
from tests.upstreams import CANARY, FaultUpstream
from tests.waiting import until

CONTENT = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
PARENT = f"00-{'ab' * 16}-{'cd' * 8}-01"
UNREACHABLE = "http://127.0.0.1:9"


@contextmanager
def traced(
    upstream: FaultUpstream,
    *options: object,
    model: str = "good",
    requests: int = 1,
    votes: int = 1,
    content: bool = False,
) -> Iterator[tuple[Gateway, Collector]]:
    """A gateway that exports; after the block it has stopped, and everything is at the collector."""
    chosen = options or ("--method", "majority", "-n", 4)
    with (
        collector() as received,
        process(upstream.url, *chosen, model=model, **received.variables(**(CONTENT if content else {}))) as running,
    ):
        yield running, received
        until(lambda: (len(served(received)), len(received.events)) == (requests, votes))
        assert running.process is not None
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait() == 0


def served(received: Collector) -> list[Any]:
    """The spans of requests, in their order."""
    spans = [span for span in received.spans if span.kind == span.SPAN_KIND_SERVER]
    return sorted(spans, key=lambda span: span.start_time_unix_nano)


def children(received: Collector, parent: Any) -> list[Any]:
    return [span for span in received.calls() if span.parent_span_id == parent.span_id]


def test_a_vote_continues_the_trace_of_its_client_and_passes_it_on(upstream: FaultUpstream) -> None:
    body = {"model": VOTE, "messages": [{"role": "user", "content": "pelicans?"}], "temperature": 0.5}
    with traced(upstream, model="fault:no-n") as (running, received):
        reply = running.send("POST", "/v1/chat/completions", body, headers={"traceparent": PARENT}).json
    (span,), (event,) = served(received), received.events
    assert (span.name, span.trace_id.hex(), span.parent_span_id.hex()) == (f"chat {VOTE}", "ab" * 16, "cd" * 8)
    recorded = attributes(span)
    assert recorded.pop("steelyard.vote.share") == pytest.approx(reply["steelyard"]["share"])
    assert recorded == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "steelyard", "gen_ai.request.model": VOTE,
        "gen_ai.request.temperature": 0.5, "gen_ai.response.id": reply["id"], "steelyard.vote.method": "majority",
        "gen_ai.response.finish_reasons": ["stop"], "steelyard.vote.result": "decided", "steelyard.vote.samples": 4,
    }  # fmt: skip
    calls = children(received, span)
    assert len(calls) == 4
    assert {call.trace_id.hex() for call in calls} == {"ab" * 16}
    sent = {entry["trace"].rpartition("-")[0] for entry in upstream.asked("fault:no-n")}
    assert sent == {f"00-{'ab' * 16}-{call.span_id.hex()}" for call in calls}
    assert (event.trace_id, event.span_id) == (span.trace_id, span.span_id)
    assert attributes(event) == {
        "gen_ai.evaluation.name": "steelyard.vote", "gen_ai.evaluation.score.label": "decided",
        "gen_ai.response.id": reply["id"],
    }  # fmt: skip
    for private in (CANARY, KEY, "pelicans", "boxed"):
        assert not received.contains(private), private


def test_one_call_for_several_samples_says_how_many_and_with_consent_what_they_are(upstream: FaultUpstream) -> None:
    with traced(upstream, content=True) as (running, received):
        reply = running.chat("pelicans?", n=2).json
    (span,), (event,) = served(received), received.events
    (call,) = map(attributes, children(received, span))
    recorded = attributes(span)
    assert (call["gen_ai.request.choice.count"], recorded["gen_ai.request.choice.count"]) == (4, 2)
    assert call["gen_ai.usage.output_tokens"] == reply["usage"]["completion_tokens"]
    (message,) = json.loads(recorded["gen_ai.input.messages"])
    assert message == {"role": "user", "parts": [{"type": "text", "content": "pelicans?"}]}
    texts = [one["parts"][0]["content"] for one in json.loads(recorded["gen_ai.output.messages"])]
    assert texts == [choice["message"]["content"] for choice in reply["choices"]]
    assert len(json.loads(call["gen_ai.output.messages"])) == 4
    assert attributes(event)["gen_ai.evaluation.score.label"] == reply["steelyard"]["answer"]
    assert not received.contains(CANARY)
    assert not received.contains(KEY)


def test_a_plan_gives_the_score_and_a_vote_below_the_threshold_abstained(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    plan = tmp_path / "careful.json"
    table = sy.simulate(400, 8, seed=3).rename({"score": "self_logprob"})
    sy.CalibratedVote(reserve=0.5).fit(sy.read_labelled(table, score="self_logprob")).save(plan)
    with traced(upstream, "--plan", plan, requests=4, votes=4, content=True) as (running, received):
        replies = [
            running.chat(f"risk {i}?", "steelyard/careful", seed=0, steelyard={"risk": 0.2}).json for i in range(4)
        ]
    results = {attributes(event)["gen_ai.response.id"]: attributes(event) for event in received.events}
    assert any(reply["steelyard"]["abstained"] for reply in replies)
    for reply in replies:
        result, details = results[reply["id"]], reply["steelyard"]
        assert result["gen_ai.evaluation.score.value"] == pytest.approx(details["confidence"])
        label = "abstained" if details["abstained"] else details["answer"]
        assert result["gen_ai.evaluation.score.label"] == label


def test_other_requests_have_spans_and_no_event(upstream: FaultUpstream) -> None:
    with traced(upstream, requests=4, votes=0, content=True) as (running, received):
        passed = running.chat("passed?", "good").json
        streamed = running.chat("streamed?", "good", stream=True, stream_options={"include_usage": True}).events
        answered = running.send("POST", "/v1/responses", {"model": "good", "input": "answered?"}).json
        assert running.chat("unknown?", f"model {CANARY}").status == 404
        assert running.send("POST", "/v1/chat/completions", {}, key="wrong").status == 401
        assert running.send("GET", "/v1/models").status == 200
    first, second, third, fourth = served(received)
    assert [span.name for span in (first, second, third, fourth)] == ["chat good"] * 3 + ["chat"]
    (call,) = map(attributes, children(received, first))
    assert call["gen_ai.response.id"] == passed["id"]
    (call,) = map(attributes, children(received, second))
    assert (call["gen_ai.response.id"], attributes(second)["gen_ai.request.stream"]) == (streamed[0]["id"], True)
    assert call["gen_ai.usage.output_tokens"] == streamed[-2]["usage"]["completion_tokens"]
    assert attributes(third)["gen_ai.response.id"] == answered["id"]
    assert (attributes(fourth)["error.type"], fourth.status.code) == ("model_not_found", 0)
    assert not received.events
    assert not received.contains(CANARY)


@pytest.mark.parametrize(("fault", "error"), [("fault:418", "418"), ("fault:echo", "invalid_reply")])
def test_a_request_that_fails_says_how_and_exports_no_key(upstream: FaultUpstream, fault: str, error: str) -> None:
    with traced(upstream, model=f"{fault}?now", votes=0, content=True) as (running, received):
        status = running.chat("now?").status
    (span,) = served(received)
    assert (status >= 500) == (span.status.code == span.status.STATUS_CODE_ERROR)
    assert {attributes(call)["error.type"] for call in received.calls()} == {error}
    assert not received.events
    assert not received.contains(CANARY)


def test_a_request_whose_client_leaves_is_cancelled_and_not_failed(upstream: FaultUpstream) -> None:
    model = "fault:silent?leaving"
    body = json.dumps({"model": VOTE, "messages": [{"role": "user", "content": "leaving?"}]})
    with traced(upstream, model=model, votes=0) as (running, received):
        connection = HTTPConnection(urlsplit(running.url).netloc)
        connection.request("POST", "/v1/chat/completions", body, {"Authorization": f"Bearer {KEY}"})
        until(lambda: upstream.asked(model))
        connection.close()
    (span,) = served(received)
    for each in (span, *children(received, span)):
        assert attributes(each)["steelyard.cancelled"] is True
        assert "error.type" not in attributes(each)
        assert not each.status.code
    assert children(received, span)


def test_a_collector_that_is_gone_changes_no_reply(upstream: FaultUpstream) -> None:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": UNREACHABLE, "OTEL_BSP_SCHEDULE_DELAY": "1"}
    with process(upstream.url, "--method", "majority", **variables) as running:
        assert {running.chat(f"gone {i}?").status for i in range(20)} == {200}
        assert running.process is not None
        running.process.send_signal(signal.SIGTERM)
        until(lambda: running.process is None or running.process.poll() is not None)
        assert running.process.returncode == 0
