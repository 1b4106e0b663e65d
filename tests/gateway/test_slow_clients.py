"""Clients that send a head or a body too slowly hold nothing, and those that are only idle are left alone."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from steelyard.gateway.caps import Caps
from tests.gateway.gateways import KEY, gateway
from tests.upstreams import FaultUpstream
from tests.waiting import PATIENCE, with_more_time

HEAD = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\n"
LIMIT = 0.4  # seconds
LONG = 5000  # bytes that are sent too slowly: the server has minutes to notice


@contextmanager
def connected(upstream: FaultUpstream, limit: float = LIMIT) -> Iterator[socket.socket]:
    """A connection to a server with these limits, whose model takes longer than them for what is slow."""
    model = f"fault:tardy@{2 * limit}#0?slow"
    with gateway(upstream.url, model=model, caps=Caps(head=limit, upload=limit)) as served:
        where = urlsplit(served.url)
        with socket.create_connection((where.hostname, where.port), timeout=PATIENCE) as client:
            yield client


def whole(prompt: str) -> bytes:
    content = {"model": "steelyard/majority", "messages": [{"role": "user", "content": prompt}], "seed": 0}
    body = json.dumps(content | {"steelyard": {"n": 1}}).encode()
    return f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode() + body


def trickled(client: socket.socket, text: bytes) -> bytes:
    """What comes back when a text is sent byte by byte, until the server closes or answers."""
    client.settimeout(LIMIT / 10)
    for at in range(len(text)):
        try:
            client.sendall(text[at : at + 1])
            return client.recv(4096)
        except TimeoutError:
            continue
        except ConnectionError:
            return b""
    raise AssertionError("the server takes it however slow it is")


def endless_head() -> bytes:
    return HEAD.encode() + b"X-Long: " + b"a" * LONG


@pytest.mark.parametrize("begun", [b"", b"POST /v1/chat"])
def test_a_head_that_does_not_end_is_cut_off(upstream: FaultUpstream, begun: bytes) -> None:
    with connected(upstream) as client:
        client.sendall(begun)
        assert client.recv(10) == b""


def test_a_head_that_trickles_is_cut_off(upstream: FaultUpstream) -> None:
    with connected(upstream) as client:
        assert trickled(client, endless_head()) == b""


def test_the_second_head_of_a_connection_has_no_more_time_than_the_first(upstream: FaultUpstream) -> None:
    def check(limit: float) -> None:
        with connected(upstream, limit) as client:
            client.sendall(whole("quick"))
            assert b" 200 OK" in client.recv(2**16)
            assert trickled(client, endless_head()) == b""

    with_more_time(check, LIMIT)


def test_a_body_that_trickles_is_answered_with_408(upstream: FaultUpstream) -> None:
    def check(limit: float) -> None:
        with connected(upstream, limit) as client:
            client.sendall(f"{HEAD}Content-Length: {LONG + 1}\r\n\r\n".encode())
            answered = trickled(client, b" " * LONG)
        assert b" 408 " in answered.split(b"\r\n")[0]
        assert json.loads(answered.partition(b"\r\n\r\n")[2])["error"]["code"] == "slow_request"

    with_more_time(check, LIMIT)


def test_who_waits_for_an_answer_or_between_two_requests_is_not_cut_off(upstream: FaultUpstream) -> None:
    def check(limit: float) -> None:
        with connected(upstream, limit) as client:
            for prompt in ("slow", "quick"):
                client.sendall(whole(prompt))
                assert b" 200 OK" in client.recv(2**16)
                time.sleep(2 * limit)

    with_more_time(check, LIMIT)
