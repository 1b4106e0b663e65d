"""Requests that ask for too much, or for nonsense: refused in OpenAI's shape before any upstream is asked."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

from steelyard.gateway.caps import Caps, read_caps
from steelyard.sampling.llm.prices import Price
from tests.gateway.gateways import KEY, VOTE, Gateway, gateway
from tests.upstreams import FaultUpstream
from tests.waiting import PATIENCE

CAPS = Caps(body=2**20, messages=100, samples=16, choices=8, tokens=50_000, deadline=600.0)
ASKED: dict[str, Any] = {"model": VOTE, "messages": [{"role": "user", "content": "abuse?"}]}


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url, caps=CAPS) as running:
        yield running


def with_(**changed: Any) -> bytes:
    return json.dumps(ASKED | changed).encode()


ABUSES: list[tuple[bytes, str | None]] = [
    (with_(n=10**9), "n"),
    (with_(n=-1), "n"),
    (with_(n=0), "n"),
    (with_(n=1.5), "n"),
    (with_(n="8"), "n"),
    (with_(n=True), "n"),
    (with_(temperature="hot"), "temperature"),
    (with_(temperature=-1), "temperature"),
    (with_(temperature=0.5).replace(b"0.5", b"1e999"), "temperature"),
    (with_(temperature=0.5).replace(b"0.5", b"NaN"), None),
    (with_(temperature=10**400), "temperature"),
    (with_(seed=0).replace(b'"seed": 0', b'"seed": ' + b"9" * 5000), None),
    (with_(max_tokens=1, max_completion_tokens=10_000), "max_tokens"),
    (with_(max_tokens=1, n_predict=-1), "n_predict"),
    (with_(n_cmpl=10**9), "n_cmpl"),
    (with_(best_of=10**9), "best_of"),
    (with_(model="good", n=8, max_tokens=10_000), "max_tokens"),
    (with_(model="good", n=10**9), "n"),
    (with_(model="good", n_cmpl=10**9), "n_cmpl"),
    (with_(model="http://evil.example/v1"), "model"),
    (with_(model="good/../../admin"), "model"),
    (with_(messages=[{"role": "user", "content": "abuse?"}] * 10**4), "messages"),
    (with_(max_tokens=10_000), "max_tokens"),
    (with_(max_tokens=10**9), "max_tokens"),
    (with_(max_completion_tokens=0), "max_completion_tokens"),
    (with_(seed=2**63), "seed"),
    (with_(N=10**9), "N"),  # what a server may read as n, and ours would not count
    (with_(model="good", Model="gpt-9"), "Model"),
    (with_(max_tokens=1, Max_Tokens=10**9), "Max_Tokens"),
    (with_(odd=True).replace(b"odd", "\u017ftream".encode()), "\u017ftream"),
    (with_(stream="yes"), "stream"),
    (with_(stream_options={"include_usage": True}), "stream_options"),
    (with_(messages=[]), "messages"),
    (with_(messages="hello"), "messages"),
    (with_(messages=[{"role": "user", "content": ""}] * 101), "messages"),
    (with_(messages=[{"content": "no role"}]), "messages[0]"),
    (with_(model=None), "model"),
    (with_(model="m" * 1000), "model"),
    (with_(model="gpt-nobody"), "model"),
    (with_(steelyard={"n": 17}), "steelyard.n"),
    (with_(steelyard={"n": 10**9}), "steelyard.n"),
    (with_(steelyard={"deadline_s": 1e9}), "steelyard.deadline_s"),
    (with_(steelyard={"deadline_s": 0}), "steelyard.deadline_s"),
    (with_(steelyard={"risk": 0.1}), "steelyard.risk"),
    (with_(steelyard={"risk": 2}), "steelyard.risk"),
    (with_(steelyard={"method": "calibrated"}), "steelyard.method"),
    (with_(steelyard={"method": ["majority"]}), "steelyard.method"),
    (with_(steelyard={"vote_on": "answer"}), "steelyard.vote_on"),
    (with_(steelyard={"max_total_tokens": 10**9}), "steelyard.max_total_tokens"),
    (with_(steelyard={"upstream": "http://evil.example"}), "steelyard.upstream"),
    (with_(steelyard=[]), "steelyard"),
    (b"[]", None),
    (b"null", None),
    (b'"x"', None),
    (b"", None),
    (b"{", None),
    (b'{"model": "a", "model": "b"}', None),
    (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", None),
    (b'{"n": ' + b"9" * 100_000 + b"}", None),
    (b"\xff\xfe{}", None),
    (with_() + b"{}", None),
]


@pytest.mark.parametrize(("body", "param"), ABUSES)
def test_what_cannot_be_is_refused_with_its_field_and_asks_nobody(
    served: Gateway, upstream: FaultUpstream, body: bytes, param: str | None
) -> None:
    refused = served.send("POST", "/v1/chat/completions", body)
    assert refused.status in (400, 404)
    assert (refused.error["type"], refused.error["param"]) == ("invalid_request_error", param)
    assert "sys." not in refused.error["message"]
    assert not [entry for entry in upstream.entries() if entry["prompt"] == "abuse?"]


def test_a_long_body_is_refused_by_its_announced_length_and_by_what_comes(served: Gateway) -> None:
    long = with_(messages=[{"role": "user", "content": "x" * 2**20}])
    refused = served.send("POST", "/v1/chat/completions", long)
    assert (refused.status, refused.error["code"]) == (413, "request_too_large")
    place = urlsplit(served.url)
    with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as client:
        client.sendall(
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {KEY}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        reply = b""
        with suppress(OSError):
            for _ in range(64):
                client.sendall(b"10000\r\n" + b"x" * 2**16 + b"\r\n")
        while part := client.recv(2**16):
            reply += part
            if b"request_too_large" in reply:
                break
        assert b" 413 " in reply.split(b"\r\n")[0]


@pytest.mark.parametrize("head", [b"x-long: " + b"a" * 2**20, b"bad header", b"Content-Length: x"])
def test_what_is_no_http_is_refused_in_the_same_shape(served: Gateway, head: bytes) -> None:
    place = urlsplit(served.url)
    with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as client:
        with suppress(OSError):
            client.sendall(b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n" + head + b"\r\n\r\n")
        reply = b""
        with suppress(OSError):
            while part := client.recv(2**16):
                reply += part
    assert reply.split(b" ")[1] in (b"400", b"431")
    assert set(json.loads(reply.split(b"\r\n\r\n", 1)[1])["error"]) == {"message", "type", "param", "code"}
    assert b"Traceback" not in reply


def test_limits_are_read_by_name_and_the_worst_case_of_the_cost_is_one(upstream: FaultUpstream) -> None:
    caps = read_caps(["samples=16", "cost=0.01"])
    with gateway(upstream.url, caps=caps, price=Price(1.0, 2.0)) as running:
        asked = {"model": VOTE, "messages": [{"role": "user", "content": "costs?"}]}
        dear = running.send("POST", "/v1/chat/completions", asked | {"max_tokens": 1000})
        assert (dear.status, dear.error["code"]) == (400, "over_budget")
        cheap = running.send("POST", "/v1/chat/completions", asked | {"max_tokens": 100})
        usage = cheap.json["usage"]
        cost = (usage["prompt_tokens"] + 2 * usage["completion_tokens"]) / 1e6
        assert cheap.json["steelyard"]["cost"] == {"samples": pytest.approx(cost), "verifier": None}
        unlimited = running.send("POST", "/v1/chat/completions", asked | {"max_tokens": None})
        assert unlimited.status == 200
    sent = [json.loads(entry["written"]) for entry in upstream.entries() if entry["prompt"] == "costs?"]
    assert sent[0]["max_tokens"] == 100
    assert 0 < sent[1]["max_tokens"] < 1000
