"""Servers that speak HTTP as a test wants it, and requests to them over our own connections."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from steelyard.llm.connections import Connections

GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nseven"
STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
Answer = Callable[[int, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Talking = Callable[[Connections], Awaitable[None]]


async def _request(reader: asyncio.StreamReader) -> bytes:
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
                self.requests.append(await _request(reader))
                await self.answer(len(self.requests) - 1, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def talk(server: Server, talking: Talking, headers: dict[str, str] | None = None) -> None:
    async def run() -> None:
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        made = Connections(f"http://127.0.0.1:{port}/v1", headers or {})
        try:
            async with asyncio.timeout(300):
                await talking(made)
        finally:
            made.close()
            listening.close()
            await server.end()

    asyncio.run(run())


async def whole(made: Connections, body: bytes | None = b"{}", headers: dict[str, str] | None = None) -> bytes:
    async with made.asked("POST", "/chat", body, headers or {}) as reply:
        found = b""
        while part := await reply.part():
            found += part
        return found


async def good(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(GOOD)


async def spoilt(made: Connections) -> None:
    """Wait until the connection that was kept is of no use any more, as the server had more to say or went away."""
    while any(wire.reusable for wire in made._idle):
        await asyncio.sleep(0.01)
