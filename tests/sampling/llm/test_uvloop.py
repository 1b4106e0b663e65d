"""Connections are made, kept and broken off on uvloop too, which Ray's workers run on where it is installed."""

from __future__ import annotations

import asyncio

import pytest
import uvloop

from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import GoneError
from tests.sampling.llm.http_servers import Server, ask, good, until_shared


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_requests_share_a_connection_and_a_server_that_ends_is_told(host: str) -> None:
    server = Server(good)

    async def run() -> None:
        assert isinstance(asyncio.get_running_loop(), uvloop.Loop)
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        async with Client(Address(f"http://{host}:{listening.sockets[0].getsockname()[1]}/v1")) as client:
            await until_shared(client, server)
            listening.close()
            await server.end()
            with pytest.raises(GoneError, match="connection refused"):
                await ask(client)

    uvloop.run(run())
