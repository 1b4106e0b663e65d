"""Clients that request long replies and do not read them take up neither memory nor slots for long."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from steelyard.gateway.caps import Caps
from steelyard.gateway.messages import replies
from tests.gateway.gateways import KEY, Gateway, gateway, process, resident
from tests.gateway.outcomes import attempts
from tests.upstreams import FaultUpstream
from tests.waiting import PATIENCE, until

MB = 8  # of a reply, more than the buffers of sockets hold
LONG = 20  # MB of a reply, where memory is measured
CLIENTS = 20
MODEL = f"fault:padded@{MB}?long"


@contextmanager
def unread(running: Gateway, prompt: str, model: str = MODEL, **more: Any) -> Iterator[socket.socket]:
    """A client that asks and reads nothing."""
    address = urlsplit(running.url)
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": prompt}], **more}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {KEY}\r\n"
    head += "Connection: close\r\n"
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
        client.settimeout(PATIENCE)
        client.connect((address.hostname, address.port))
        client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        yield client


def is_cut(client: socket.socket) -> bool:
    """Whether the reply ends before it is complete."""
    size = 0
    try:
        while part := client.recv(2**20):
            size += len(part)
    except ConnectionError:
        return True
    return size < MB * 2**20


def test_a_client_that_reads_nothing_of_a_long_reply_loses_its_place(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "READ_TIMEOUT", 0.5)
    caps = Caps(in_flight=1, queue=0)
    with gateway(upstream.url, model=MODEL, caps=caps) as running, unread(running, "long and unread") as client:
        assert client.recv(1)
        until(lambda: running.chat("next", MODEL).status == 200)
        assert is_cut(client)


@pytest.mark.parametrize("fault", ["endless-stream@events", "long-logprobs"])
def test_a_client_that_reads_nothing_of_a_stream_is_no_failure_of_the_upstream(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fault: str
) -> None:
    """The second upstream does not stream: its whole reply is sent as a stream."""
    monkeypatch.setattr(replies, "READ_TIMEOUT", 0.5)
    log, model, prompt = tmp_path / "access.jsonl", f"fault:{fault}?unread", f"unread {fault}"
    with (
        gateway(upstream.url, model=model, access_log=str(log)) as running,
        unread(running, prompt, model, stream=True, logprobs=True, n=16),
    ):
        until(lambda: log.exists() and log.read_text().endswith("\n"))
    entry = json.loads(log.read_text())
    assert entry["status"] == 499
    assert not entry.keys() & {"error", "cause"}
    assert attempts(upstream, prompt) == 1


def test_a_client_that_reads_a_long_reply_gets_all_of_it(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model=MODEL) as running:
        answered = running.chat("long and read", MODEL)
        assert len(answered.json["padding"]) == MB * 2**20
        assert int(answered.headers["content-length"]) == len(answered.body)
        assert re.fullmatch("req_[0-9a-f]{32}", answered.headers["x-request-id"])


def test_of_too_many_unread_replies_the_oldest_is_dropped(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies.UnreadReplies.__init__, "__defaults__", (MB * 3 * 2**20,))
    with gateway(upstream.url, model=MODEL) as running, ExitStack() as stack:
        clients = []
        for i in range(4):
            prompt = f"long unread {i}"
            clients.append(stack.enter_context(unread(running, prompt)))
            until(lambda prompt=prompt: attempts(upstream, prompt) == 1)  # type: ignore[misc]
            assert clients[-1].recv(1)
        assert [is_cut(client) for client in clients] == [True, True, False, False]


@pytest.mark.long
def test_twenty_clients_that_read_nothing_hold_no_more_than_the_limit(upstream: FaultUpstream) -> None:
    model = f"fault:padded@{LONG}?long"
    with process(upstream.url, "--method", "majority", model=model) as running, ExitStack() as stack:
        assert running.chat("long first", model).status == 200
        before = resident(running)
        for i in range(CLIENTS):
            prompt = f"long {i}"
            client = stack.enter_context(unread(running, prompt, model))
            until(lambda prompt=prompt: attempts(upstream, prompt) == 1)  # type: ignore[misc]
            assert client.recv(1)
        assert resident(running) - before < replies.MAX_UNREAD / 2**20 + 128
        assert running.chat("long last", model).status == 200
        until(lambda: resident(running) - before < 64)  # after READ_TIMEOUT seconds all are gone, and their memory too
