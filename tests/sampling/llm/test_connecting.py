"""A server is found behind its name and port, at any of the addresses that the name has."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import GoneError
from tests.sampling.llm.http_servers import Server, ask, good


def test_an_address_of_a_name_that_does_not_answer_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(good)

    async def run() -> None:
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in ("127.0.0.9", "127.0.0.1")]
        connect = asyncio.get_running_loop().sock_connect

        async def dead(sock: socket.socket, address: Any) -> None:
            if address[0] == "127.0.0.9":
                await asyncio.Event().wait()
            await connect(sock, address)

        monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", dead)
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
        async with Client(Address(f"http://localhost:{port}")) as client:
            assert [await ask(client) for _ in range(3)] == [[777]] * 3
        listening.close()
        await server.end()

    asyncio.run(run())


def test_a_name_with_several_addresses_is_found_at_the_one_where_the_server_listens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server(good)

    def both(_: object, port: int, *__: object, **___: object) -> list[Any]:
        stream = (socket.SOCK_STREAM, 6, "")
        return [(socket.AF_INET6, *stream, ("::1", port, 0, 0)), (socket.AF_INET, *stream, ("127.0.0.1", port))]

    async def run() -> None:
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        monkeypatch.setattr(socket, "getaddrinfo", both)
        async with Client(Address(f"http://localhost:{listening.sockets[0].getsockname()[1]}")) as client:
            assert await ask(client) == [777]
        listening.close()
        await server.end()

    asyncio.run(run())


def test_servers_that_share_a_name_share_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = Server(good), Server(good)

    async def run() -> None:
        first = await asyncio.start_server(one, "127.0.0.1", 0)
        port = first.sockets[0].getsockname()[1]
        second = await asyncio.start_server(two, "127.0.0.2", port)
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{n}", port)) for n in (1, 2)]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        async with Client(Address(f"http://localhost:{port}")) as client:
            await asyncio.gather(*(ask(client) for _ in range(9)))
        assert sorted((one.opened, two.opened)) == [4, 5]
        for listening, server in ((first, one), (second, two)):
            listening.close()
            await server.end()

    asyncio.run(run())


def test_a_port_where_nobody_listens_is_no_connection_and_says_why() -> None:
    async def run() -> None:
        listening = await asyncio.start_server(Server(good), "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        listening.close()
        await listening.wait_closed()
        async with Client(Address(f"http://127.0.0.1:{port}")) as client:
            await ask(client)

    with pytest.raises(GoneError, match=r"no connection to http://127.0.0.1:\d+: connection refused$"):
        asyncio.run(run())


def test_a_name_that_nobody_knows_is_no_connection_and_says_why() -> None:
    async def run() -> None:
        async with Client(Address("http://nowhere.invalid:8000/v1")) as client:
            await ask(client)

    with pytest.raises(GoneError, match=r"no connection to http://nowhere.invalid:8000/v1: \w"):
        asyncio.run(run())


def test_port_0_is_not_the_usual_port() -> None:
    async def run() -> None:
        async with Client(Address("http://127.0.0.1:0")) as client:
            await ask(client)

    with pytest.raises(GoneError, match=r"no connection to http://127.0.0.1:0: "):
        asyncio.run(run())
