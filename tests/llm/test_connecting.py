"""A server is found behind its name and port, at any of the addresses that the name has."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from steelyard.llm import connections
from steelyard.llm.connections import Connections, NoConnectionError
from tests.llm.http_servers import Server, good, whole


def test_an_address_of_a_name_that_no_longer_answers_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(good)

    async def run() -> None:
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        made = Connections(f"http://localhost:{listening.sockets[0].getsockname()[1]}", {})
        connect = asyncio.get_running_loop().create_connection

        async def dead(protocol: Any, host: str, *rest: Any, **options: Any) -> Any:
            if host == "127.0.0.1":
                await asyncio.sleep(60)
            return await connect(protocol, host, *rest, **options)

        async with made.asked("POST", "/chat", b"{}", {}):
            pass  # its connection is not kept
        monkeypatch.setattr(connections, "CONNECT", 0.5)
        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", dead)
        with pytest.raises(NoConnectionError):
            await whole(made)
        monkeypatch.setattr(connections, "CONNECT", 60.0)
        assert await whole(made) == b"seven"
        made.close()
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
        made = Connections(f"http://localhost:{listening.sockets[0].getsockname()[1]}", {})
        assert await whole(made) == b"seven"
        made.close()
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
        made = Connections(f"http://localhost:{port}", {})
        for _ in range(9):
            async with made.asked("POST", "/chat", b"{}", {}):
                pass  # its connection is not kept
        assert sorted((one.opened, two.opened)) == [4, 5]
        made.close()
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
        await whole(Connections(f"http://127.0.0.1:{port}", {}))

    with pytest.raises(NoConnectionError) as raised:
        asyncio.run(run())
    assert isinstance(raised.value.why, ConnectionRefusedError)


def test_port_0_is_not_the_usual_port(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        listening = await asyncio.start_server(Server(good), "127.0.0.1", 0)
        monkeypatch.setitem(connections.PORTS, "http", listening.sockets[0].getsockname()[1])
        with pytest.raises(NoConnectionError):
            await whole(Connections("http://127.0.0.1:0", {}))
        listening.close()

    asyncio.run(run())
