"""What an upstream does wrong: one sample that fails never fails a request, and a cut stream never ends cleanly."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import KEY, Answered, Gateway, gateway
from tests.upstreams import CANARY, FaultUpstream
from tests.waiting import PATIENCE, until, with_more_time

ONE = 2  # the sample that fails


@contextmanager
def served(upstream: FaultUpstream, fault: str) -> Iterator[Gateway]:
    """A gateway whose upstream has a fault where the prompt holds "now": its probe finds it whole."""
    with gateway(upstream.url, model=f"fault:{fault}?now") as running:
        assert running.send("GET", "/readyz").status == 200
        yield running


def asked(upstream: FaultUpstream, prompt: str) -> int:
    return sum(entry["prompt"] == prompt for entry in upstream.entries())


@pytest.mark.parametrize("kind", ["400", "cut@40", "reset", "html", "empty", "choices-null", "garbage", "error"])
@pytest.mark.usefixtures("short_pauses")
def test_one_failed_sample_of_many_fails_no_request(upstream: FaultUpstream, kind: str) -> None:
    with served(upstream, f"{kind}#{ONE}") as running:
        prompt = f"now one {kind}?"
        told = running.chat(prompt, seed=0, steelyard={"n": 4, "ballots": True})
        assert told.status == 200
        samples = told.json["steelyard"]["samples"]
        assert (samples["drawn"], samples["failed"]) == (3, 1)
        assert told.json["steelyard"]["ballots"][ONE]["answer"] is None
        assert asked(upstream, prompt) <= 4 * 3


@pytest.mark.parametrize(
    ("kind", "status", "requests"),
    [("401", 401, 1), ("404", 404, 1), ("422", 422, 2), ("html", 502, 8 * 3), ("429", 429, 3), ("503", 503, 3)],
)
@pytest.mark.usefixtures("short_pauses")
def test_when_all_samples_fail_the_status_says_whose_fault_it_is(
    upstream: FaultUpstream, kind: str, status: int, requests: int
) -> None:
    with served(upstream, kind) as running:
        prompt = f"now all {kind}?"
        answered = running.chat(prompt)
        assert answered.status == status
        assert CANARY not in answered.error["message"]
        assert answered.headers["x-should-retry"] == "false"
        assert ("retry-after" in answered.headers) == (status in (429, 503))
        assert asked(upstream, prompt) == requests


def test_a_deadline_ends_a_silent_upstream(upstream: FaultUpstream) -> None:
    with served(upstream, "silent") as running:
        answered = running.chat("now silent?", steelyard={"deadline_s": 0.5})
        assert (answered.status, answered.error["code"]) == (504, "upstream_timeout")


def test_at_the_deadline_the_samples_that_came_are_voted_on(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model=f"fault:silent#{ONE}?now&no-n") as running:
        assert running.send("GET", "/readyz").status == 200

        def check(seconds: float) -> None:
            answered = running.chat("now late?", seed=0, steelyard={"n": 3, "deadline_s": seconds})
            assert answered.status == 200
            assert answered.json["steelyard"]["samples"] == {
                "wanted": 3, "drawn": 2, "uncounted": 0, "failed": 0, "cancelled": 1, "requests": 3, "by": "fan-out",
            }  # fmt: skip

        with_more_time(check, 0.3)


def test_an_upstream_without_n_is_asked_sample_by_sample(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:no-n") as running:
        told = running.chat("fan out?", seed=0).json["steelyard"]
        assert told["samples"]["drawn"] == 8
        assert asked(upstream, "fan out?") == 8


def streamed(running: Gateway, upstream_model: str, prompt: str) -> Answered:
    return running.chat(prompt, model=upstream_model, seed=0, stream=True)


@pytest.mark.parametrize("kind", ["", "malformed", "bytewise"])
def test_every_good_token_of_a_stream_passes_through(upstream: FaultUpstream, kind: str) -> None:
    with served(upstream, kind or "none") as running:
        events = streamed(running, f"fault:{kind or 'none'}?now", f"{'now' if kind else ''} pass").events
        assert events[-1] == "[DONE]"
        text = "".join(event["choices"][0]["delta"].get("content", "") for event in events[:-1])
        assert text.strip() == text_of(f"{'now' if kind else ''} pass", 0).strip()


@pytest.mark.parametrize("kind", ["cut", "clean-cut", "done-cut", "reset", "error-event"])
def test_a_cut_stream_ends_with_an_error_and_never_cleanly(upstream: FaultUpstream, kind: str) -> None:
    with served(upstream, f"{kind}@4") as running:
        connection = http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=PATIENCE)
        body = {
            "model": f"fault:{kind}@4?now", "stream": True, "messages": [{"role": "user", "content": "now cut"}],
        }  # fmt: skip
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Authorization": f"Bearer {KEY}"})
        reply = connection.getresponse()
        with pytest.raises(http.client.IncompleteRead) as cut:
            reply.read()
        came = Answered(200, {}, cut.value.partial).events
        assert set(came[-1]) == {"error"}
        assert "[DONE]" not in came
        assert CANARY not in str(came)
        connection.close()


def test_a_client_that_leaves_cancels_all_its_upstream_calls(upstream: FaultUpstream) -> None:
    model = "fault:silent?now"
    with gateway(upstream.url, model=model) as running:
        assert running.send("GET", "/readyz").status == 200
        body = json.dumps(
            {"model": "steelyard/majority", "messages": [{"role": "user", "content": "now leave"}], "seed": 0}
        ).encode()
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection((urlsplit(running.url).hostname, urlsplit(running.url).port)) as client:
            client.sendall(head.encode() + body)
            until(lambda: asked(upstream, "now leave") == 1)
        number = next(entry["request"] for entry in upstream.entries() if entry["prompt"] == "now leave")
        until(lambda: number in [entry["request"] for entry in upstream.entries("left")])
        assert [entry["closed"] for entry in upstream.entries("left") if entry["request"] == number] == ["them"]
        assert asked(upstream, "now leave") == 1


@pytest.mark.parametrize("model", ["steelyard/majority", "fault:numbers?now"])
def test_numbers_that_are_no_json_come_back_as_null(upstream: FaultUpstream, model: str) -> None:
    with served(upstream, "numbers") as running:
        answered = running.chat("now odd?", model=model, logprobs=True, steelyard={"n": 1})
        assert answered.status == 200
        assert b"NaN" not in answered.body
        assert answered.json["choices"][0]["logprobs"]["content"] == [{"logprob": None}, {"logprob": None}]
