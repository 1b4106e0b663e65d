"""An unsolicited reply is never taken for an answer, and no connection to a server that sent one is reused."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest

from steelyard.sampling.llm import connections
from steelyard.sampling.llm.client import Client
from tests.sampling.llm.http_servers import GOOD, Server, ask, talk, until_shared

CLIENTS, EACH = 12, 24


def _reply(content: object) -> bytes:
    body = json.dumps(content).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def _again(delay: float) -> Server:
    """A server that sends each reply, and the same once more after so many seconds."""
    later = set[asyncio.Task[None]]()

    async def answer(number: int, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reply = _reply(json.loads(server.requests[number].partition(b"\r\n\r\n")[2]))
        writer.write(reply)

        async def second() -> None:
            await asyncio.sleep(delay)
            writer.write(reply)

        later.add(asyncio.create_task(second()))

    server = Server(answer)
    return server


@pytest.mark.parametrize("delay", [0.0, 0.002, 0.03])
def test_288_requests_get_their_own_replies_from_a_server_that_sends_each_twice(
    monkeypatch: pytest.MonkeyPatch, delay: float
) -> None:
    monkeypatch.setattr(connections, "QUIET", 10.0)  # more than a busy machine stands still
    monkeypatch.setattr(connections, "DISTRUST", 3600.0)
    server = _again(delay)

    async def talking(client: Client) -> None:
        async def one(name: int) -> None:
            for turn in range(EACH):
                expected = [name, turn]
                assert await ask(client, json.dumps(expected).encode()) == expected

        await asyncio.gather(*map(one, range(CLIENTS)))

    talk(server, talking)
    assert server.opened == CLIENTS * EACH, "no connection had two requests"


def test_a_second_reply_in_the_same_segment_reaches_no_other_request() -> None:
    async def twice(number: int, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(_reply(number) + _reply("wrong"))

    server = Server(twice)

    async def talking(client: Client) -> None:
        assert [await ask(client) for _ in range(5)] == [0, 1, 2, 3, 4]

    talk(server, talking)


def test_what_comes_on_a_connection_that_was_reused_retires_it_and_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "DISTRUST", 3600.0)
    chatty = False

    async def late(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        if chatty:
            await asyncio.sleep(0.05)
            writer.write(_reply("wrong"))

    server = Server(late)

    async def talking(client: Client) -> None:
        nonlocal chatty
        await until_shared(client, server)
        chatty = True
        assert await ask(client) == [777]
        while not any(writer.is_closing() for writer in server.writers):
            await asyncio.sleep(0.01)
        opened = server.opened
        chatty = False
        assert [await ask(client) for _ in range(5)] == [[777]] * 5
        assert server.opened == opened + 5

    talk(server, talking)


def test_a_server_that_is_quiet_again_has_its_connections_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "DISTRUST", 0.3)

    async def first(number: int, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        if number == 0:
            await asyncio.sleep(0.02)
            writer.write(_reply("wrong"))

    server = Server(first)

    async def talking(client: Client) -> None:
        await ask(client)
        await asyncio.sleep(0.1)
        await until_shared(client, server)

    talk(server, talking)


def test_a_flood_on_an_idle_connection_is_not_read() -> None:
    async def flooding(number: int, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        await asyncio.sleep(0.05)
        peer: socket.socket = writer.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**16)
        while True:
            writer.write(GOOD * 2**12)
            await writer.drain()

    server = Server(flooding)

    async def talking(client: Client) -> None:
        assert await ask(client) == [777]
        while not server.writers[0].is_closing():
            await asyncio.sleep(0.01)

    talk(server, talking)
