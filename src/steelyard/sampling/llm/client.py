"""One request to an OpenAI-compatible server, and its reply or the error that it ended with.

Replies may have 32 MB, but few such at once (bounded_json.py). Nothing is compressed, and every try has a deadline. A
failure is a `TryError` of faults.py with a one-line reason that does not contain the key. The model's text is never
changed: a sample that contains the key is refused.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientError,
    ClientHttpProxyError,
    ClientResponse,
    ClientSession,
    ConnectionTimeoutError,
)

from steelyard.foundation.version import __version__
from steelyard.sampling.llm import connections
from steelyard.sampling.llm.address import CHAT, Address, proxy_for
from steelyard.sampling.llm.bounded_json import MOST_BYTES, SMALL, Hold, Room, parsed
from steelyard.sampling.llm.completion_json import Reply, read_reply
from steelyard.sampling.llm.connections import cause, open_session
from steelyard.sampling.llm.faults import (
    NO_CREDIT,
    BusyError,
    CertificateError,
    GoneError,
    LateError,
    ProxyError,
    RefusedError,
    StatusError,
    TooLargeError,
    TryError,
    error_message,
)
from steelyard.sampling.llm.retry import retry_after

BUSY = frozenset({429, 503, 529})
AGAIN = frozenset({408, 409, 425})
MOST_ERROR = 2**16  # bytes read of an error reply
MOST_CAUSE = 160  # characters
AT_ONCE = 2**20  # bytes of a request that are sent in one piece
PIECE = 2**16  # bytes of the pieces of a longer one
NO_LOGIN = 407  # how a proxy asks for a user and a password
QUOTA = re.compile(rb"insufficient[_ ](?:quota|credit|balance|funds)|exceeded your current quota", re.IGNORECASE)
JSON = {"Content-Type": "application/json"}
UNTIMED = math.inf  # instead of a timeout: the caller ends the try, and no other timer is set

Body: TypeAlias = dict[str, Any] | bytes | tuple[bytes | memoryview, ...] | None  # bytes are sent unchanged


class Written(NamedTuple):
    """A reply: its parsed JSON, its bytes if they were requested, and its headers."""

    content: Any
    body: bytes
    headers: Mapping[str, str]


class Client:
    """A client of one server, used as `async with Client(address) as client`."""

    def __init__(self, address: Address, *, try_timeout: float = 600.0) -> None:
        self.address = address
        self.try_timeout = try_timeout
        self.room = Room()
        self.proxy = proxy_for(address.base)
        self._headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": f"steelyard/{__version__}"}
        if address.key:
            self._headers["Authorization"] = f"Bearer {address.key}"
        self._session: ClientSession | None = None

    async def __aenter__(self) -> Client:
        self._session = open_session(self.address.base, self.proxy)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session:
            await self._session.close()

    async def sample(
        self,
        body: dict[str, Any],
        n: int,
        *,
        timeout: float | None = None,
        hold: Hold | None = None,
        top: int = 0,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """POST a chat completion request for n choices and read the reply; one without choices is a `TryError`.

        `hold` reserves the memory of a long reply until its samples are stored. `top`: see `read_reply`.
        """
        content = await self.request("POST", CHAT, body, timeout=timeout, hold=hold, headers=headers)
        try:
            reply = read_reply(content, n, self.address.betrayed, top=top)
        except TryError as error:
            reason = self.address.masked(error.reason)
        else:
            return reply._replace(wrong={j: self.address.masked(reason) for j, reason in reply.wrong.items()})
        raise TryError(reason)

    async def request(
        self,
        method: str,
        path: str,
        body: Body = None,
        *,
        timeout: float | None = None,
        hold: Hold | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a request for a path below the base, and return the parsed JSON of the reply."""
        return (await self._fetch(method, path, body, timeout, headers, hold)).content

    async def written(
        self, path: str, body: Body, *, timeout: float | None = None, headers: Mapping[str, str] | None = None
    ) -> Written:
        """POST, and return the parsed JSON of the reply with its bytes and headers."""
        return await self._fetch("POST", path, body, timeout, headers, keep_body=True)

    async def _fetch(
        self,
        method: str,
        path: str,
        body: Body,
        timeout: float | None,
        headers: Mapping[str, str] | None,
        hold: Hold | None = None,
        keep_body: bool = False,
    ) -> Written:
        limit = self._limit(timeout)
        with self._as_try_errors(limit):
            async with asyncio.timeout(limit if limit < UNTIMED else None):
                with nullcontext(hold) if hold else Hold(self.room) as memory:
                    async with self._open(method, path, body, headers) as response:
                        content = await self._read_body(response, memory)
                    copy = bytes(content) if keep_body else b""  # parsing empties the content
                    return Written(parsed(content), copy, response.headers)
        raise AssertionError("an error was swallowed")

    @asynccontextmanager
    async def streamed(
        self, path: str, body: Body, *, timeout: float | None = None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[ClientResponse]:
        """POST, and yield the reply while it arrives: `timeout` is that of its headers, the caller times its body.

        A status other than 200 raises what `request` raises.
        """
        limit = self._limit(timeout)
        with self._as_try_errors(limit), Hold(self.room) as hold:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(limit if limit < UNTIMED else None):
                    response = await stack.enter_async_context(self._open("POST", path, body, headers))
                    if response.status != 200:
                        await self._read_body(response, hold)
                yield response

    def _limit(self, timeout: float | None) -> float:
        if timeout is None:
            return self.try_timeout
        return timeout if timeout == UNTIMED else min(timeout, self.try_timeout)

    def _open(
        self, method: str, path: str, body: Body, headers: Mapping[str, str] | None
    ) -> AbstractAsyncContextManager[ClientResponse]:
        if self._session is None:
            raise AssertionError("use the client within 'async with'")
        url = self.address.base + path
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        all_headers = {**self._headers, **(JSON if content is not None else {}), **(headers or {})}
        data: bytes | AsyncIterator[bytes | memoryview] | None
        if isinstance(content, bytes) and len(content) > AT_ONCE:
            content = (content,)
        if isinstance(content, tuple):
            all_headers["Content-Length"] = str(sum(map(len, content)))
            data = _pieces(content)
        else:
            data = content
        return self._session.request(method, url, data=data, headers=all_headers, allow_redirects=False)

    @contextmanager
    def _as_try_errors(self, limit: float) -> Iterator[None]:
        """Turn every network error within the block into a TryError."""
        try:
            yield
        except ClientConnectorError as error:
            if self.proxy and (error.host, error.port) == (self.proxy.host, self.proxy.port):
                raise ProxyError(f"no connection to the proxy {self.proxy}: {cause(error)}") from None
            kind = CertificateError if isinstance(error, ClientConnectorCertificateError) else GoneError
            raise kind(f"no connection to {self.address.base}: {cause(error)}") from None
        except ClientHttpProxyError as error:
            raise self._refused_by_proxy(error.status) from None
        except ConnectionTimeoutError:
            through = f" through the proxy {self.proxy}" if self.proxy else ""
            raise LateError(f"no connection{through} within {connections.CONNECT:.3g} s") from None
        except TimeoutError:
            raise LateError(f"no answer within {limit:.3g} s") from None
        except (ClientError, OSError, ValueError, EOFError) as error:
            raise TryError(self.address.masked(f"the connection broke: {cause(error)}", MOST_CAUSE)) from None

    def _refused_by_proxy(self, status: int) -> ProxyError:
        why = "it requires a user and a password" if status == NO_LOGIN else "it refused the connection"
        return ProxyError(f"no connection through the proxy {self.proxy}: {why} (HTTP {status})")

    async def _read_body(self, response: ClientResponse, hold: Hold) -> bytearray:
        status = response.status
        compressed = response.headers.get("content-encoding", "identity").lower() != "identity"
        if status == 200:
            if compressed:
                raise TryError("the reply is compressed, although no compression was requested")
            return await _read(response, MOST_BYTES, hold)
        try:
            content = await _read(response, MOST_ERROR, hold)
        except TooLargeError:
            content = bytearray()
        message = "" if compressed else self.address.masked(error_message(content)).removeprefix(f"{status} ")
        reason = f"HTTP {status}: {message}" if message else f"HTTP {status}"
        if 300 <= status < 400:
            location = self.address.masked(response.headers.get("location", "").partition("?")[0], 200)
            target = f" to {location}" if location else ""
            raise RefusedError(f"HTTP {status}: it redirects{target}, and redirects are not followed", status)
        if status == NO_LOGIN and self.proxy:
            raise self._refused_by_proxy(status)
        if status == 429 and QUOTA.search(content):
            raise RefusedError(reason, NO_CREDIT)
        if status in BUSY:
            raise BusyError(reason, retry_after(response.headers))
        if 400 <= status < 500 and status not in AGAIN:
            raise RefusedError(reason, status)
        raise StatusError(reason, status)


async def _pieces(parts: tuple[bytes | memoryview, ...]) -> AsyncIterator[memoryview]:
    """Slices of the parts of a body; each is taken when the connection can send it."""
    for part in parts:
        for start in range(0, len(part), PIECE):
            yield memoryview(part)[start : start + PIECE]


async def _read(response: ClientResponse, limit: int, hold: Hold) -> bytearray:
    """The body, unless it is longer than `limit` bytes; beyond SMALL bytes it waits for memory."""
    content = bytearray()
    length = response.content_length
    size = length or 0
    while size <= limit and (part := await response.content.readany()):
        size = len(content) + len(part)
        if SMALL < size <= limit and not hold.size:
            await hold.take(length or limit)
        content += part
    if size <= limit:
        return content
    content.clear()
    raise TooLargeError(f"the reply is longer than {limit / 2**20:.3g} MB")
