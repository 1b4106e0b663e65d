"""The connections to one server: how they are made, trusted and reused, and why one failed.

A server may send a reply to no request. On a connection that is kept open, the next request would take it for its own
response. So bytes that arrive on an idle connection close it, and the server's connections are not reused for DISTRUST
seconds. Before any connection is reused, one must have been quiet for QUIET seconds.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import ssl
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientPayloadError,
    ClientResponseError,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    ServerDisconnectedError,
    TCPConnector,
    ThreadedResolver,
)
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

from steelyard.foundation.environment import CLIENT_CERTIFICATE
from steelyard.foundation.errors import SettingError
from steelyard.sampling.llm.address import Proxy

CONNECT = 10.0  # seconds
IDLE = 15.0  # seconds that a connection is kept
FRESH = 0.5  # seconds after which the sockets are read before a connection is reused
RESOLVED = 60  # seconds that the addresses of a name are remembered
QUIET = 0.1  # seconds
DISTRUST = 60.0  # seconds
WATCHED = 8  # connections at once that are watched for QUIET seconds; the others are closed
TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")  # the last two: file or folder
Result = TypeVar("Result")
CUT = "it closed before the reply was complete"
NO_HTTP = "it does not speak HTTP"
CALL = "Connect call failed"  # asyncio's message, once per address that was tried
_NUMBER = re.compile(r"\[Errno (\d+)\]")


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
        """A connection for a request: an idle one that was quiet, or a new one."""
        now, before, self._last_use = self._loop.time(), self._last_use, self._loop.time()
        if now - before > FRESH:
            await asyncio.sleep(0)  # the loop polls the sockets,
            await asyncio.sleep(0)  # and reads them
        while True:
            connection = await super().connect(req, traces, timeout)
            handler = connection.protocol
            if not isinstance(handler, _Handler):
                raise TypeError("the connection was not made by this connector")
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
            self._watched[connection] = self._loop.call_later(QUIET, self._stop_watching, connection)
        return False

    def _stop_watching(self, connection: Connection) -> None:
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
        """Read data; bytes after a reply, or while no request is under way, close the connection."""
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


def tls_context() -> ssl.SSLContext:
    """A context that trusts the certificates named by variables, or the system's if none is set."""
    context = _trusting([variable for variable in TRUSTED if os.environ.get(variable)])
    context.set_alpn_protocols(["http/1.1"])
    if path := os.environ.get(CLIENT_CERTIFICATE):
        try:
            context.load_cert_chain(path, password="")  # else an encrypted key prompts on the terminal
        except (OSError, ValueError):
            raise SettingError(
                f"${CLIENT_CERTIFICATE} ({path}) is not a PEM file with a certificate and its unencrypted key: "
                "correct it, or unset it"
            ) from None
    return context


def _trusting(variables: list[str]) -> ssl.SSLContext:
    if not variables:
        return ssl.create_default_context()
    context = _loaded(ssl.create_default_context, variables[0])  # without the system's certificates
    for variable in variables[1:]:
        _loaded(context.load_verify_locations, variable)
    return context


def _loaded(load: Callable[..., Result], variable: str) -> Result:
    path = os.environ[variable]
    is_folder = variable == "SSL_CERT_DIR" or Path(path).is_dir()  # which may be several, joined by colons
    try:
        return load(**{"capath" if is_folder else "cafile": path})
    except OSError:  # ssl.SSLError is one
        raise SettingError(
            f"${variable} ({path}) is not a PEM file or a folder of certificates: correct it, or unset it"
        ) from None


def cause(error: BaseException) -> str:
    """Why a connection failed, in a few words, without paths, addresses and dumps of bytes.

    >>> cause(OSError(111, "Connect call failed ('127.0.0.1', 9)"))
    'connection refused'
    >>> cause(OSError("Multiple exceptions: [Errno 111] Connect call failed (..), [Errno 101] Connect call failed"))
    'connection refused, network is unreachable'
    """
    if isinstance(error, ClientConnectorError):
        error = error.os_error
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return f"the TLS handshake failed ({error.reason.replace('_', ' ').lower()})"
    if isinstance(error, ClientError) and (reason := _reply_cause(error)):
        return reason
    if isinstance(error, OSError) and CALL in str(error):
        return ", ".join(os.strerror(int(number)).lower() for number in dict.fromkeys(_NUMBER.findall(str(error))))
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error).partition("\n")[0].strip() or type(error).__name__


def _reply_cause(error: ClientError) -> str:
    """What is wrong with a reply; empty if no reply began."""
    if isinstance(error, ClientResponseError):
        return NO_HTTP
    return CUT if isinstance(error, ClientPayloadError | ServerDisconnectedError) else ""
