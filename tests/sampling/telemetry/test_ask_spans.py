"""`steelyard ask` as a process that exports to a real collector: its spans, its event, and nothing private."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import steelyard as sy
from tests.sampling.telemetry.collector import PATIENT, Collector, attributes, collector
from tests.sampling.verifiers.verifier_servers import fault_verifier
from tests.upstreams import CANARY, ROOT, FaultUpstream, command
from tests.waiting import PATIENCE

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
QUESTION = "How many pelicans?"


def ask(upstream: FaultUpstream, received: Collector, *options: object, model: str = "good", **variables: str) -> str:
    """What `ask` prints; it exports to the collector."""
    line, environment = command("ask", QUESTION, "--upstream", upstream.url, "--model", model, "-n", 3, *options)
    done = subprocess.run(
        [*PATIENT, *line[3:]], env=environment | received.variables(**variables), capture_output=True, text=True,
        timeout=PATIENCE, check=True, cwd=ROOT,
    )  # fmt: skip
    return done.stdout


def test_a_vote_is_one_span_with_a_span_per_call_and_the_event_with_its_result(upstream: FaultUpstream) -> None:
    with collector() as received:
        ask(upstream, received, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20of-the-collector")
    vote, calls = received.voted(), received.calls()
    assert (vote.name, vote.kind, vote.parent_span_id) == ("chat good", vote.SPAN_KIND_INTERNAL, b"")
    assert attributes(vote) == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "steelyard", "gen_ai.request.model": "good",
        "steelyard.vote.result": "decided", "steelyard.vote.method": "vanilla", "steelyard.vote.samples": 3,
        "steelyard.vote.share": attributes(vote)["steelyard.vote.share"],
    }  # fmt: skip
    assert len(calls) == 3
    assert {(call.trace_id, call.parent_span_id) for call in calls} == {(vote.trace_id, vote.span_id)}
    for call in calls:
        recorded = attributes(call)
        assert recorded.pop("gen_ai.response.id").startswith("chatcmpl-")
        assert recorded.pop("gen_ai.usage.output_tokens") > 0
        assert recorded == {
            "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "good",
            "gen_ai.response.model": "good", "gen_ai.usage.input_tokens": 7, "server.address": "127.0.0.1",
            "gen_ai.response.finish_reasons": ["stop"], "server.port": int(upstream.url.split(":")[2].split("/")[0]),
        }  # fmt: skip
    (event,) = received.events
    assert (event.event_name, event.trace_id, event.span_id) == (
        "gen_ai.evaluation.result", vote.trace_id, vote.span_id,
    )  # fmt: skip
    assert attributes(event) == {
        "gen_ai.evaluation.name": "steelyard.vote", "gen_ai.evaluation.score.label": "decided",
    }  # fmt: skip
    assert received.resources[0]["service.name"] == "steelyard"
    assert {headers["authorization"] for headers in received.headers} == {"Bearer of-the-collector"}
    for private in (CANARY, "pelicans", "boxed", "of-the-collector"):
        assert not received.contains(private), private


def test_every_call_sends_the_trace_of_its_own_span(upstream: FaultUpstream) -> None:
    with collector() as received:
        ask(upstream, received, model="traced")
    sent = {entry["trace"].rpartition("-")[0] for entry in upstream.asked("traced")}
    assert sent == {f"00-{call.trace_id.hex()}-{call.span_id.hex()}" for call in received.calls()}
    assert len(sent) == 3


def test_a_failed_call_says_what_kind_of_error_it_was_and_no_more(upstream: FaultUpstream) -> None:
    with collector() as received:
        ask(upstream, received, model=f"fault:echo-error#1?{QUESTION}")
    errors = [attributes(call)["error.type"] for call in received.calls() if call.status.code]
    assert set(errors) == {"invalid_reply"}
    assert not any(span.status.message or span.events for span in received.spans)
    assert not received.contains(CANARY)


def test_the_calls_to_a_verifier_are_a_part_of_the_vote(upstream: FaultUpstream, tmp_path: Path) -> None:
    with fault_verifier(tmp_path) as verifier, collector() as received:
        at = ("--verifier-upstream", f"{verifier.url}/v1", "--verifier-model", "good")
        ask(upstream, received, "--verifier", "p-true", *at)
    vote, port = received.voted(), urlsplit(verifier.url).port
    scoring = [call for call in received.calls() if attributes(call)["server.port"] == port]
    assert {(call.name, call.parent_span_id) for call in scoring} == {("chat good", vote.span_id)}
    assert len(scoring) >= 3
    assert not received.contains("pelicans")


def test_content_is_exported_where_it_was_asked_for_and_the_confidence_of_a_plan(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    table = sy.simulate(100, 3, seed=3).rename({"score": "self_logprob"})
    sy.CalibratedVote().fit(sy.read_labelled(table, score="self_logprob")).save(plan)
    with collector() as received:
        result = json.loads(
            ask(upstream, received, "--plan", plan, "--json", OTEL_SERVICE_NAME="my-votes", **{CONTENT: "true"})
        )
    vote, (event,) = attributes(received.voted()), received.events
    assert received.resources[0]["service.name"] == "my-votes"
    assert json.loads(vote["gen_ai.input.messages"])[0]["parts"][0]["content"].startswith(QUESTION)
    texts = {
        json.loads(attributes(call)["gen_ai.output.messages"])[0]["parts"][0]["content"] for call in received.calls()
    }
    assert texts == {sample["response"] for sample in result["samples"]}
    assert vote["steelyard.vote.answer"] == result["answer"] == attributes(event)["gen_ai.evaluation.score.label"]
    assert attributes(event)["gen_ai.evaluation.score.value"] == pytest.approx(result["confidence"])
    assert not received.contains(CANARY)
