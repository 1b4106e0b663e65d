"""Connections that send no request use few resources and do not delay other clients."""

from __future__ import annotations

import asyncio
import itertools
import resource
import socket
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from steelyard.gateway.http.connection import BATCH, HeadDeadlines
from tests.gateway.gateways import Gateway, gateway, process, resident
from tests.upstreams import FaultUpstream
from tests.waiting import PATIENCE, until


class Slow:
    """A connection that notes when it is closed."""

    def __init__(self, closed: list[Slow]) -> None:
        self.closed = closed

    def close_slow(self) -> None:
        self.closed.append(self)


def connected(running: Gateway, begun: bytes = b"POST /v1/chat") -> socket.socket:
    address = urlsplit(running.url)
    client = socket.create_connection((address.hostname, address.port), timeout=PATIENCE)
    client.sendall(begun)
    return client


def is_closed(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_connections_whose_time_is_over_are_closed_a_few_at_once_and_in_their_order() -> None:
    async def run() -> None:
        closed: list[Slow] = []
        heads = HeadDeadlines(0.01, limit=1000)
        slow = [Slow(closed) for _ in range(100)]
        for connection in slow:
            heads.add(connection)
        heads.discard(slow[0])
        loop, sizes = asyncio.get_running_loop(), [0]
        begun = loop.time()
        while len(closed) < 99:
            assert loop.time() - begun < PATIENCE
            await asyncio.sleep(0)
            sizes.append(len(closed))
        assert closed == slow[1:]
        assert max(after - before for before, after in itertools.pairwise(sizes)) <= BATCH

    asyncio.run(run())


def test_beyond_the_limit_the_connection_that_has_waited_longest_is_closed() -> None:
    async def run() -> None:
        closed: list[Slow] = []
        heads = HeadDeadlines(PATIENCE, limit=3, grace=0.0)
        slow = [Slow(closed) for _ in range(5)]
        for connection in slow:
            heads.add(connection)
        assert closed == slow[:2]
        assert [connection in heads for connection in slow] == [False, False, True, True, True]

    asyncio.run(run())


def test_connections_that_have_just_been_accepted_are_not_closed_whatever_the_limit() -> None:
    async def run() -> None:
        closed: list[Slow] = []
        heads = HeadDeadlines(PATIENCE, limit=3, grace=PATIENCE)
        burst = [Slow(closed) for _ in range(50)]
        for connection in burst:
            heads.add(connection)
        assert closed == []
        assert all(connection in heads for connection in burst)

    asyncio.run(run())


def test_a_server_drops_the_oldest_of_too_many_slow_connections_and_answers_others(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HeadDeadlines.__init__, "__defaults__", (10, 0.0))
    with gateway(upstream.url) as running, ExitStack() as stack:
        assert running.chat().status == 200
        idle = stack.enter_context(connected(running, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
        assert idle.recv(2**16).startswith(b"HTTP/1.1 200")
        slow = [stack.enter_context(connected(running)) for _ in range(30)]
        until(lambda: sum(map(is_closed, slow)) == 20)
        assert [is_closed(client) for client in slow] == [True] * 20 + [False] * 10
        assert running.chat().status == 200
        assert not is_closed(idle), "it waits between two requests, and not for a head"


@pytest.mark.long
def test_a_thousand_slow_connections_take_little_memory(upstream: FaultUpstream) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    try:
        with process(upstream.url, "--method", "majority") as running, ExitStack() as stack:
            assert running.chat().status == 200
            before = resident(running)
            for _ in range(1000):
                stack.enter_context(connected(running))
            assert running.chat().status == 200
            assert resident(running, peak=True) - before < 64
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
