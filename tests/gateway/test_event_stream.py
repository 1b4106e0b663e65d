"""Streams to clients."""

from __future__ import annotations

import asyncio
import socket

import pytest
from aiohttp import web

from steelyard.gateway.messages.replies import event, start_stream


async def _ends(serve: web.Application) -> None:
    """Ask a server for a stream, and read nothing of it."""
    runner = web.AppRunner(serve)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        async with asyncio.timeout(60):
            while not serve["ended"].is_set():
                await asyncio.sleep(0.01)
    await runner.cleanup()


@pytest.mark.filterwarnings("ignore::aiohttp.web.NotAppKeyWarning")
def test_a_client_that_stops_reading_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.gateway.messages.replies.READ_TIMEOUT", 0.2)
    told = []

    async def stream(request: web.Request) -> web.StreamResponse:
        response = await start_stream(request)
        try:
            for _ in range(1000):
                await response.write(event({"text": "x" * 2**20}))
        except ConnectionResetError as error:
            told.append(str(error))
        finally:
            request.app["ended"].set()
        return response

    async def run() -> None:
        serve = web.Application()
        serve["ended"] = asyncio.Event()
        serve.router.add_get("/", stream)
        await _ends(serve)

    asyncio.run(run())
    assert told == ["the client has stopped reading"]
