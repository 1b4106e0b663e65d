"""The clients that benchmarks put servers under load with: what they count, and that no server can hold them up."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from benchmarks import clients
from benchmarks.clients import Tally, load

HEAD = "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n{more}\r\n"


async def loaded(more: str | None) -> Tally:
    """What clients count of a server that echoes one request per connection and then only listens; None: none."""

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            length = int((await reader.readuntil(b"\r\n\r\n")).lower().partition(b"content-length: ")[2])
            body = await reader.readexactly(length)
            if more is not None:
                writer.write(HEAD.format(length=length, more=more).encode() + body)
            await reader.read()
            writer.close()

    server = await asyncio.start_server(one, "127.0.0.1", 0)
    async with server, asyncio.timeout(20):
        return await load(server.sockets[0].getsockname()[1], "plain", clients=2, each=3)


def test_a_connection_that_the_server_is_done_with_is_not_used_again() -> None:
    tally = asyncio.run(loaded("Connection: close\r\n"))
    assert (len(tally.whole), tally.lost, tally.mixed_up) == (6, 0, 0)


@pytest.mark.parametrize(("more", "answered"), [("", 4), (None, 0)])
def test_a_request_without_a_reply_is_lost_after_a_while(
    more: str | None, answered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "PATIENCE", 0.2)
    tally = asyncio.run(loaded(more))
    assert (len(tally.whole), tally.lost) == (answered, 6 - answered)
