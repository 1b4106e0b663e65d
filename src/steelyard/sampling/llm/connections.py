"""The connections to one server: aiohttp's, with a check that what a kept connection says is an answer.

A server may send a reply that nobody has asked for. On a connection that is kept for the next request, that request
would take it for its own answer. So bytes that arrive on an idle connection close it, and the server's connections are
not reused for DISTRUST seconds. Before any connection is reused, one must have been quiet for QUIET seconds.
"""

from __future__ import annotations

import asyncio
import math
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, ThreadedResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

from steelyard.sampling.llm.certificates import tls_context
from steelyard.sampling.llm.proxies import Proxy

CONNECT = 10.0  # seconds
IDLE = 15.0  # seconds that a connection is kept
FRESH = 0.5  # seconds after which the sockets are read before a connection is reused
RESOLVED = 60  # seconds that the addresses of a name are remembered
QUIET = 0.1  # seconds
DISTRUST = 60.0  # seconds
WATCHED = 8  # connections at once that are watched for QUIET seconds; the others are closed


def open_session(base: str, proxy: Proxy | None) -> ClientSession:
    """A session for requests to one server. It has no headers of its own: aiohttp would send them to the proxy too."""
    url = proxy.url if proxy else None
    tls = base.startswith("https:") or (url is not None and url.startswith("https:"))
    return ClientSession(
        connector=Connections(tls_context() if tls else True),
        proxy=url,
        timeout=ClientTimeout(total=None, connect=CONNECT),
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,
    )


class Connections(TCPConnector):
    """Makes connections and reuses those that are known to be quiet."""

    def __init__(self, tls: ssl.SSLContext | bool) -> None:
        super().__init__(
            ssl=tls, limit=0, keepalive_timeout=IDLE, ttl_dns_cache=RESOLVED, resolver=ThreadedResolver()
        )  # fmt: skip
        self._factory: partial[_Handler] = partial(_Handler, self._loop, self._distrust)  # type: ignore[assignment]
        self._is_quiet = False  # whether a connection was quiet after its reply
        self._distrust_until = -math.inf
        self._watched: dict[Connection, asyncio.TimerHandle] = {}
        self._last_use = self._loop.time()

    async def connect(self, req: Any, traces: Any, timeout: Any) -> Connection:
        """A connection for a request: a quiet one that is idle, or a new one."""
        now, before, self._last_use = self._loop.time(), self._last_use, self._loop.time()
        if now - before > FRESH:
            await asyncio.sleep(0)  # the loop polls the sockets,
            await asyncio.sleep(0)  # and reads them
        while True:
            connection = await super().connect(req, traces, timeout)
            handler = connection.protocol
            if not isinstance(handler, _Handler):
                raise TypeError("the connection was made by another factory")
            if handler.idle and not self._may_reuse(connection, handler):
                continue
            handler.idle = False
            connection.add_callback(handler.rest)
            if self._is_distrusted:
                handler.force_close()
            return connection

    async def close(self, *, abort_ssl: bool = False) -> None:
        """Close all connections, used or not."""
        for connection, timer in self._watched.items():
            timer.cancel()
            connection.close()
        self._watched.clear()
        await super().close(abort_ssl=abort_ssl)

    def _may_reuse(self, connection: Connection, handler: _Handler) -> bool:
        """Whether an idle connection may be reused; one that may not is closed or watched."""
        is_bad = self._is_distrusted or handler.should_close
        was_quiet = self._is_quiet or self._loop.time() - handler.idle_since >= QUIET
        if was_quiet and not is_bad:
            self._is_quiet = True
            return True
        if is_bad or len(self._watched) >= WATCHED:
            connection.close()
        else:
            self._watched[connection] = self._loop.call_later(QUIET, self._judge, connection)
        return False

    def _judge(self, connection: Connection) -> None:
        """Keep a connection that was quiet while it was watched."""
        del self._watched[connection]
        if connection.closed or self._is_distrusted:
            connection.close()
        else:
            self._is_quiet = True
            connection.release()

    @property
    def _is_distrusted(self) -> bool:
        return self._loop.time() < self._distrust_until

    def _distrust(self) -> None:
        self._is_quiet = False
        self._distrust_until = self._loop.time() + DISTRUST


class _Handler(ResponseHandler):
    """One connection, which closes itself when bytes arrive that belong to no request."""

    def __init__(self, loop: asyncio.AbstractEventLoop, unsolicited: Callable[[], None]) -> None:
        super().__init__(loop)
        self.idle, self.idle_since = False, math.inf
        self._unsolicited = unsolicited

    def rest(self) -> None:
        """Note that no request uses the connection."""
        self.idle, self.idle_since = True, self._loop.time()

    def data_received(self, data: bytes) -> None:
        """Read data; what comes behind a reply, or while no request is under way, ends the connection."""
        is_answer = not self.idle
        if is_answer:
            super().data_received(data)
        is_open = self.transport is not None
        if self.idle and is_open and (self.should_close if is_answer else data):  # no data: reading is resumed
            self._unsolicited()
            self.close()

    def close(self) -> None:
        """Close at once, also where something is left to send."""
        self.abort()
