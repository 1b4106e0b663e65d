"""Servers that speak HTTP as a test wants it, and requests to them by our own client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import Client

GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n[777]"
STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
Answer = Callable[[int, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Talking = Callable[[Client], Awaitable[None]]


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
    return head + await reader.readexactly(length)


class Server:
    """Answers every request of its connections by `answer`, which is told the number of the request."""

    def __init__(self, answer: Answer) -> None:
        self.answer, self.requests = answer, list[bytes]()
        self.writers: list[asyncio.StreamWriter] = []

    @property
    def opened(self) -> int:
        return len(self.writers)

    async def end(self) -> None:
        for writer in self.writers:
            writer.transport.abort()
        await asyncio.sleep(0.01)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        try:
            while True:
                self.requests.append(await read_request(reader))
                await self.answer(len(self.requests) - 1, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def talk(server: Server, talking: Talking, key: str | None = None) -> None:
    async def run() -> None:
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        try:
            async with asyncio.timeout(300), Client(Address(f"http://127.0.0.1:{port}/v1", key)) as client:
                await talking(client)
        finally:
            listening.close()
            await server.end()

    asyncio.run(run())


async def ask(client: Client, body: bytes | None = b"{}", headers: dict[str, str] | None = None) -> Any:
    return await client.request("POST", "/chat", body, headers=headers)


async def until_shared(client: Client, server: Server) -> None:
    """Ask until a connection is reused: it is not, as long as the server may send what nobody has asked for."""
    before = -1
    while server.opened != before:
        await asyncio.sleep(0.02)
        before = server.opened
        await ask(client)


async def good(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(GOOD)
