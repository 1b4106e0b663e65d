"""An HTTP proxy: CONNECT and the absolute form, with and without a password."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.sampling.llm.http_servers import read_request

NO_LOGIN = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"


class ProxyServer:
    """Leads every host to one port of this machine, and notes the requests that it has read."""

    def __init__(self, target: int, login: str | None = None, refusal: bytes = b"") -> None:
        self.target, self.refusal = target, refusal
        self.credentials = b"" if login is None else b"Proxy-Authorization: Basic " + base64.b64encode(login.encode())
        self.requests: list[bytes] = []
        self.port = 0

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = listening.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            listening.close()
            await asyncio.sleep(0.05)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await read_request(reader)
                self.requests.append(request)
                if self.refusal or self.credentials not in request:
                    writer.write(self.refusal or NO_LOGIN)
                elif request.startswith(b"CONNECT "):
                    await self._tunnel(reader, writer)
                    return
                else:
                    writer.write(await self._passed_on(request))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _passed_on(self, request: bytes) -> bytes:
        behind, before = await asyncio.open_connection("127.0.0.1", self.target)
        before.write(request)
        head = await behind.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        reply = head + await behind.readexactly(length)
        before.close()
        return reply

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, before = await asyncio.open_connection("127.0.0.1", self.target)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_pump(reader, before), _pump(behind, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()
