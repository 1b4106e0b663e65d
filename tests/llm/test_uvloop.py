"""Connections are made, kept and broken off on uvloop too, which Ray's workers run on where it is installed."""

from __future__ import annotations

import asyncio

import pytest
import uvloop

from steelyard.llm.connections import Connections, NoConnectionError
from tests.llm.http_servers import Server, good, whole


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_requests_share_a_connection_and_a_server_that_ends_is_told(host: str) -> None:
    server = Server(good)

    async def run() -> None:
        assert isinstance(asyncio.get_running_loop(), uvloop.Loop)
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        made = Connections(f"http://{host}:{listening.sockets[0].getsockname()[1]}/v1", {})
        assert [await whole(made) for _ in range(3)] == [b"seven"] * 3
        assert server.opened == 1
        listening.close()
        await server.end()
        with pytest.raises(NoConnectionError) as raised:
            await whole(made)
        assert isinstance(raised.value.why, OSError)
        made.close()

    uvloop.run(run())
