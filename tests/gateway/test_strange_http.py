"""What no ordinary client sends: every route stays behind the key, and whatever is refused is answered."""

from __future__ import annotations

import gzip
import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from steelyard.gateway.limits.access import Access
from tests.gateway.gateways import KEY, VOTE, Gateway, gateway
from tests.upstreams import FaultUpstream
from tests.waiting import PATIENCE

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"]
PATHS = [
    "/", "/v1", "/v1/models", "/v1/models/", "//v1/models", "/v1//models", "/V1/MODELS", "/v1/./models", "/metrics",
    "/x/../metrics", "/%2e/metrics", "/%6detrics", "/metrics%00", "/metrics?key=1", "/metrics#x", "/metrics;a=b",
    "/healthz/../metrics", "/healthz/", "/healthz%2f..%2fmetrics", "/healthz/metrics", "//healthz", "/HEALTHZ",
    "/readyz", "/docs", "/openapi.json", "/invocations", "/v1/chat/completions", "/v1/responses", "/static/page.js",
    "http://127.0.0.1/metrics", "http://evil.example/v1/models", "*",
]  # fmt: skip
BODY = json.dumps({"model": VOTE, "messages": [{"role": "user", "content": "strange"}]}).encode()


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url) as running:
        yield running


def raw(running: Gateway, first: str, *lines: str, body: bytes = b"", end: str = "Connection: close\r\n") -> bytes:
    """What comes back to bytes that are written as they are."""
    place = urlsplit(running.url)
    head = "".join(f"{line}\r\n" for line in (f"{first} HTTP/1.1", f"Host: {place.netloc}", *lines))
    with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as client:
        client.sendall(f"{head}{end}\r\n".encode("utf-8", "surrogateescape") + body)
        reply = b""
        with suppress(OSError):
            while part := client.recv(2**16):
                reply += part
    return reply


def status(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1])


def error(reply: bytes) -> dict[str, str]:
    found: dict[str, str] = json.loads(reply.split(b"\r\n\r\n", 1)[1])["error"]
    assert set(found) == {"message", "type", "param", "code"}
    return found


@pytest.mark.parametrize("method", METHODS)
def test_no_method_and_no_spelling_of_a_path_gets_past_the_key(served: Gateway, method: str) -> None:
    for path in PATHS:
        reply = raw(served, f"{method} {path}", "Content-Length: 0")
        assert status(reply) in (400, 401), (path, reply)
        assert b"steelyard_" not in reply
        assert VOTE.encode() not in reply


@pytest.mark.parametrize(
    "line",
    [
        "Authorization: Bearer", "Authorization: Basic " + KEY, "Authorization: " + KEY, "api-key: " + KEY,
        "x-api-key: " + KEY, "Cookie: key=" + KEY, "Authorization: Bearer " + KEY.upper(), "Authorization: Bearer *",
        "Authorization: Bearer \udcff\udcfe", f"Authorization: Bearer x{KEY}", f"Proxy-Authorization: Bearer {KEY}",
    ],
)  # fmt: skip
def test_only_the_key_as_a_bearer_is_taken_and_none_is_said_again(served: Gateway, line: str) -> None:
    for path in ("/v1/models", f"/v1/models?key={KEY}&api_key={KEY}"):
        reply = raw(served, f"GET {path}", line)
        assert status(reply) in (400, 401)
        assert KEY.encode() not in reply
        assert error(reply)


def test_keys_are_kept_as_hashes_only() -> None:
    kept = repr([vars(Access((KEY,), "127.0.0.1"))])
    assert KEY not in kept
    assert KEY.encode().hex() not in kept


@pytest.mark.parametrize("origin", ["http://[", "null", "http://evil.example", "", "http://127.0.0.1", "//[::1"])
def test_no_origin_of_another_place_is_answered(served: Gateway, origin: str) -> None:
    reply = raw(served, "GET /v1/models", f"Authorization: Bearer {KEY}", f"Origin: {origin}")
    assert (status(reply), error(reply)["code"]) == (403, "wrong_origin")
    assert b"access-control" not in reply.lower()


@pytest.mark.parametrize("host", ["[", "evil.example", "127.0.0.1.evil.example", "localhost@evil.example", ""])
def test_no_name_of_another_place_is_answered(served: Gateway, host: str) -> None:
    refused = served.send("GET", "/healthz", headers={"Host": host})
    assert (refused.status, refused.error["code"]) == (403, "wrong_host")


def test_an_expectation_that_nobody_knows_is_answered_and_lets_nobody_in(served: Gateway) -> None:
    for path in ("/v1/chat/completions", "/nowhere"):
        refused = raw(served, f"POST {path}", "Expect: miracles", "Content-Length: 0")
        assert (status(refused), error(refused)["code"]) == (417, "bad_expect")
    waited = raw(served, "POST /v1/chat/completions", "Expect: 100-continue", "Content-Length: 2", body=b"{}")
    assert b" 401 " in waited


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
@pytest.mark.parametrize("body", [b"junk", BODY, gzip.compress(b" " * 2**24 + BODY)])
def test_a_body_that_is_compressed_is_refused_unread(served: Gateway, encoding: str, body: bytes) -> None:
    refused = served.send("POST", "/v1/chat/completions", body, headers={"Content-Encoding": encoding})
    assert (refused.status, refused.error["code"]) == (415, "compressed")


def test_two_lengths_of_one_body_are_no_http(served: Gateway) -> None:
    smuggled = b"0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n"
    reply = raw(served, "POST /v1/chat/completions", "Content-Length: 5", "Transfer-Encoding: chunked", body=smuggled)
    assert (status(reply), error(reply)["code"]) == (400, "bad_http")
    assert b"aiohttp" not in reply
    assert b"Python" not in reply


def test_a_client_that_sends_its_body_too_slowly_loses_its_place(upstream: FaultUpstream) -> None:
    from steelyard.gateway.caps import Caps

    with gateway(upstream.url, caps=Caps(in_flight=1, queue=1, upload=0.2)) as running:
        place = urlsplit(running.url)
        with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as slow:
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {KEY}\r\n"
            slow.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
            time.sleep(0.05)
            assert running.send("POST", "/v1/chat/completions", BODY).status == 200
            reply = slow.recv(2**16)
    assert (status(reply), error(reply)["code"]) == (408, "slow_request")
