"""The connections to one server: each has one request at a time, and is kept a while for the next.

This is all of HTTP that an API of JSON needs, and takes a third of the CPU of a client that does all of it: a gateway
spends most of its time here. No proxies, no redirects, no cookies, no compression.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import quote, urlsplit

from steelyard.llm.http_reply import HttpReply, read_head
from steelyard.llm.wire import Wire, WireError

CONNECT = 10.0  # seconds
IDLE = 15.0  # seconds that a connection is kept
FRESH = 0.5  # seconds after which it may have been closed without our having looked
FOUND = 60.0  # seconds that the addresses of a name are remembered
NEXT_ADDRESS = 0.25  # seconds until another address of a host is tried too
PATH = "%/:=&~+!$,;'@()*[]"  # what is not quoted in a path
PORTS = {"http": 80, "https": 443}


class NoConnectionError(Exception):
    """There is no connection; `why` is None where there was none in time."""

    def __init__(self, why: OSError | None) -> None:
        super().__init__(f"no connection within {CONNECT:.3g} s" if why is None else str(why))
        self.why = why


class Connections:
    """Sends requests below the address `base`, with `headers` on each of them."""

    def __init__(self, base: str, headers: Mapping[str, str]) -> None:
        parts = urlsplit(base)
        host = parts.hostname or ""
        self._host = host if host.isascii() else host.encode("idna").decode()
        self._port = PORTS[parts.scheme] if parts.port is None else parts.port
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        if self._tls:
            self._tls.set_alpn_protocols(["http/1.1"])
        self._path = quote(parts.path, safe=PATH)
        shown = f"[{self._host}]" if ":" in self._host else self._host
        named = shown if self._port == PORTS[parts.scheme] else f"{shown}:{self._port}"
        self._head = _lines({"Host": named, "Accept": "*/*", **headers})
        self._open: set[Wire] = set()
        self._idle: list[Wire] = []  # the one that was used last is used next
        self._sweeping: asyncio.TimerHandle | None = None
        self._named = not _is_address(self._host)
        self._kind = 0  # of address that answers, IPv4 or IPv6, where there is a name
        self._places: deque[str] = deque()  # addresses of the name, so that not every connection looks it up
        self._places_until = 0.0

    @asynccontextmanager
    async def asked(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> AsyncIterator[HttpReply]:
        """Send a request and hand out the reply while it comes; one that is not read to its end is broken off.

        One that was read leaves its connection to the next request, also where the reader refuses what it says. A
        server may close it just when it is used: what has no body, and no second try, is asked over a new one.
        """
        head = f"{method} {self._path}{path} HTTP/1.1\r\n{self._head}{_lines(headers)}"
        length = "" if body is None else f"Content-Length: {len(body)}\r\n"
        wire = (await self._kept() if body is not None else None) or await self._connected()
        self._open.add(wire)
        reply: HttpReply | None = None
        try:
            wire.send(f"{head}{length}\r\n".encode("latin-1") + (body or b""))
            reply = await read_head(wire)
            yield reply
        except WireError:
            reply = None  # nobody knows where it ends
            raise
        finally:
            self._open.discard(wire)
            if reply and reply.leaves() and wire.reusable:
                self._keep(wire)
            else:
                wire.close()

    def close(self) -> None:
        """Let go of all connections."""
        if self._sweeping:
            self._sweeping.cancel()
        for wire in (*self._open, *self._idle):
            wire.close()
        self._idle.clear()

    async def _kept(self) -> Wire | None:
        """A connection that is open and has nothing to say; who was busy for long looks first what came meanwhile."""
        if self._idle and asyncio.get_running_loop().time() - self._idle[-1].idle_since > FRESH:
            await asyncio.sleep(0)  # the loop asks the sockets,
            await asyncio.sleep(0)  # and hears them
        while self._idle:
            wire = self._idle.pop()
            if wire.reusable:
                return wire
            wire.close()
        return None

    async def _connected(self) -> Wire:
        """A new connection: to the next address of the name or, where that fails, to any."""
        try:
            async with asyncio.timeout(CONNECT):
                with suppress(OSError):
                    if place := await self._next_place():
                        return (await self._connect(place))[1]
                transport, wire = await self._connect(self._host, NEXT_ADDRESS if self._named else None)
        except TimeoutError:
            self._kind = 0  # of which may be what does not answer, where the name has others that do
            raise NoConnectionError(None) from None
        except OSError as error:
            raise NoConnectionError(error) from None
        if self._named:
            self._kind = socket.AF_INET6 if ":" in transport.get_extra_info("peername")[0] else socket.AF_INET
            self._places_until = 0.0  # what was remembered did not answer
        return wire

    async def _next_place(self) -> str:
        """The addresses of the name in turn, of the kind that answers: they may be servers that share the work."""
        loop = asyncio.get_running_loop()
        if not self._kind:
            return ""
        if loop.time() >= self._places_until:
            found = await loop.getaddrinfo(self._host, self._port, family=self._kind, type=socket.SOCK_STREAM)
            self._places = deque(dict.fromkeys(str(place[0]) for *_, place in found))
            self._places_until = loop.time() + FOUND
        self._places.rotate(-1)
        return self._places[0]

    async def _connect(self, host: str, delay: float | None = None) -> tuple[asyncio.BaseTransport, Wire]:
        loop = asyncio.get_running_loop()
        known = isinstance(loop, asyncio.BaseEventLoop)  # uvloop tries one address after the other
        at_once: dict[str, Any] = {"happy_eyeballs_delay": delay} if delay and known else {}
        named = self._host if self._tls else None
        return await loop.create_connection(Wire, host, self._port, ssl=self._tls, server_hostname=named, **at_once)

    def _keep(self, wire: Wire) -> None:
        loop = asyncio.get_running_loop()
        wire.idle_since = loop.time()
        self._idle.append(wire)
        if self._sweeping is None:
            self._sweeping = loop.call_later(IDLE, self._sweep)

    def _sweep(self) -> None:
        """Close what was not used for a while, and look again later as long as there is anything."""
        loop = asyncio.get_running_loop()
        since = loop.time() - IDLE
        for wire in self._idle:
            if wire.idle_since <= since:
                wire.close()
        self._idle = [wire for wire in self._idle if wire.idle_since > since]
        self._sweeping = loop.call_later(IDLE, self._sweep) if self._idle else None


def _is_address(host: str) -> bool:
    """Whether a host is an address, and no name that may have several.

    >>> _is_address("127.0.0.1"), _is_address("::1"), _is_address("localhost")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _lines(headers: Mapping[str, str]) -> str:
    """Headers as they are sent; nothing in them may end its line.

    >>> _lines({"Host": "localhost"})
    'Host: localhost\\r\\n'
    """
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    if lines.count("\n") != len(headers) or lines.count("\r") != len(headers):
        raise ValueError("a header holds the end of a line")
    return lines
