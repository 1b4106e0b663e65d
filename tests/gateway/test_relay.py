"""A request for an upstream's own model: its reply comes back byte for byte, with what it says of its limits."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from unittest.mock import patch

import pytest

from steelyard.gateway.http import vote_stream
from tests.gateway.gateways import gateway
from tests.upstreams import CANARY, FaultUpstream

WRITTEN = (
    b'{ "id":"c1", "choices": [{"index":0,"message":{"role":"assistant","content":"caf\xc3\xa9 \\u00e9"},'
    b'"finish_reason":"stop"}],\n "usage":{"prompt_tokens":1,"completion_tokens":2}, "cost": 1.50e-3, "more":[1.0] }'
)
LIMITS = {"x-ratelimit-remaining-requests": "9", "X-RateLimit-Reset-Tokens": "1s", "x-other": "secret"}


class Fixed(BaseHTTPRequestHandler):
    """Says the same to everybody."""

    protocol_version = "HTTP/1.1"
    body: ClassVar[bytes] = WRITTEN

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body, kind = self.body, "application/json"
        if asked.get("stream"):
            delta = {"index": 0, "delta": {"content": "4"}, "finish_reason": "stop"}
            body, kind = f"data: {json.dumps({'choices': [delta]})}\n\ndata: [DONE]\n\n".encode(), "text/event-stream"
        self.send_response(200)
        for name, value in {**LIMITS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def fixed(body: bytes = WRITTEN) -> Iterator[str]:
    with patch.object(Fixed, "body", body), ThreadingHTTPServer(("127.0.0.1", 0), Fixed) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def test_a_reply_that_needs_no_change_comes_back_byte_for_byte() -> None:
    with fixed() as url, gateway(url) as running:
        assert running.chat(model="good").body == WRITTEN


def test_long_replies_keep_the_bytes_of_their_tokens() -> None:
    """A long reply is read without them, which its client must not notice."""
    tokens = [{"token": "a", "logprob": -0.5, "bytes": [97]} for _ in range(8000)]
    choice = {"index": 0, "message": {"content": "a"}, "finish_reason": "stop", "logprobs": {"content": tokens}}
    body = json.dumps({"id": "c1", "choices": [choice]}).encode()
    assert len(body) > 2**18
    with fixed(body) as url, gateway(url) as running:
        assert running.chat(model="good", logprobs=True).body == body


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_reply_in_another_encoding_comes_back_as_utf_8(encoding: str) -> None:
    with fixed(WRITTEN.decode().encode(encoding)) as url, gateway(url) as running:
        assert running.chat(model="good").json == json.loads(WRITTEN)


def test_a_reply_that_holds_the_key_anywhere_is_not_relayed() -> None:
    body = WRITTEN.replace(b'"c1"', f'"{CANARY}"'.encode())
    with fixed(body) as url, gateway(url) as running:
        answered = running.chat(model="good")
    assert answered.status == 502
    assert CANARY.encode() not in answered.body


@pytest.mark.parametrize("stream", [False, True])
def test_the_limits_of_the_upstream_are_told_to_who_asks_it_alone(stream: bool) -> None:
    with fixed() as url, gateway(url) as running:
        passed, voted = running.chat(model="good", stream=stream), running.chat(stream=stream)
    assert (passed.status, voted.status) == (200, 200)
    assert passed.headers["x-ratelimit-remaining-requests"] == "9"
    assert passed.headers["x-ratelimit-reset-tokens"] == "1s"
    assert "x-other" not in passed.headers
    assert not any(name.startswith("x-ratelimit") for name in voted.headers)


def test_unknown_fields_of_a_responses_request_go_on_as_they_were_written(upstream: FaultUpstream) -> None:
    body = (
        b'{"model": "steelyard/majority", "input": "spelled?", "top_k": 5.0, "guided": {"a":  [1e2]}, "store": true, '
        b'"reasoning": {"effort": "low"}, "tool_choice": {"type": "function", "name": "f"}, "steelyard": {"n": 1}}'
    )
    with gateway(upstream.url) as running:
        assert running.send("POST", "/v1/responses", body).status == 200
    (sent,) = [entry["written"] for entry in upstream.entries() if entry["prompt"] == "spelled?"]
    assert '"top_k": 5.0' in sent
    assert '"guided": {"a":  [1e2]}' in sent
    assert '"reasoning_effort":"low"' in sent.replace(": ", ":")
    assert '"tool_choice":{"type":"function","function":{"name":"f"}}' in sent.replace(": ", ":").replace(", ", ",")
    assert "store" not in sent
    assert '"input"' not in sent


@pytest.mark.parametrize("depth", [960, 975, 990])
def test_a_responses_request_that_is_nested_too_deeply_is_no_defect(upstream: FaultUpstream, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    call = f'{{"type": "function_call", "name": "f", "call_id": "1", "arguments": {nested}}}'
    with gateway(upstream.url) as running:
        body = f'{{"model": "steelyard/majority", "input": [{call}], "steelyard": {{"n": 1}}}}'.encode()
        assert running.send("POST", "/v1/responses", body).status in (200, 400, 502)


def test_a_stream_of_the_responses_api_has_heartbeats_until_it_is_decided(upstream: FaultUpstream) -> None:
    with (
        patch.object(vote_stream, "HEARTBEAT", 0.1),
        gateway(upstream.url, model="fault:tardy@0.6#0?beat") as running,
    ):
        body = {"model": "steelyard/majority", "input": "beat?", "stream": True, "seed": 0, "steelyard": {"n": 2}}
        answered = running.send("POST", "/v1/responses", body)
    assert answered.body.startswith(b": ping\n\n")
    assert answered.events[-1]["type"] == "response.completed"


def test_what_fails_after_a_heartbeat_is_an_error_event(upstream: FaultUpstream) -> None:
    import http.client

    with patch.object(vote_stream, "HEARTBEAT", 0.1), gateway(upstream.url, model="fault:silent?beat") as running:
        body = {"model": "steelyard/majority", "input": "beat?", "stream": True, "steelyard": {"deadline_s": 0.6}}
        with pytest.raises(http.client.IncompleteRead) as cut:
            running.send("POST", "/v1/responses", body)
    told = cut.value.partial.decode().split("event: error\ndata: ")[1]
    assert json.loads(told)["error"]["code"] == "upstream_timeout"
