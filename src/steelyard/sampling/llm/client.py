"""One request to an OpenAI-compatible server, and what became of it.

Bodies up to 32 MB, and not many of those at once (reply_memory.py); no compression; a
deadline for every try. What fails is a `TryError` of faults.py with a reason on one line that does not hold the key.
What the model said is never changed: a sample that holds the key is none.
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
from steelyard.sampling.llm.address import CHAT, Address
from steelyard.sampling.llm.bounded_json import MOST_BYTES, parsed
from steelyard.sampling.llm.causes import cause
from steelyard.sampling.llm.connections import open_session
from steelyard.sampling.llm.error_words import error_message
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
)
from steelyard.sampling.llm.proxies import proxy_for
from steelyard.sampling.llm.reply import Reply, read_reply
from steelyard.sampling.llm.reply_memory import SMALL, Hold, Room
from steelyard.sampling.llm.retry_after import retry_after

BUSY = frozenset({429, 503, 529})
AGAIN = frozenset({408, 409, 425})
MOST_ERROR = 2**16  # bytes read of an error reply
MOST_CAUSE = 160  # characters
AT_ONCE = 2**20  # bytes of a request that are sent in one piece
PIECE = 2**16  # bytes of the pieces of a longer one
NO_LOGIN = 407  # how a proxy asks for a user and a password
QUOTA = re.compile(rb"insufficient[_ ](?:quota|credit|balance|funds)|exceeded your current quota", re.IGNORECASE)
JSON = {"Content-Type": "application/json"}
UNTIMED = math.inf  # in the place of a timeout: whoever asks ends the try himself, and no other timer is set

Body: TypeAlias = dict[str, Any] | bytes | tuple[bytes | memoryview, ...] | None  # bytes are sent as they are


class Written(NamedTuple):
    """A reply: what its JSON says, its bytes where they were to be kept, and its headers."""

    content: Any
    body: bytes
    headers: Mapping[str, str]


class Client:
    """A connection to one server, used as `async with Client(address) as client`."""

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
        self, body: dict[str, Any], n: int, *, timeout: float | None = None, hold: Hold | None = None
    ) -> Reply:
        """POST a chat completion that asks for n choices and read the reply; a try that gives none is a `TryError`.

        `hold` keeps the room of a long reply until its samples are put away.
        """
        content = await self.request("POST", CHAT, body, timeout=timeout, hold=hold)
        try:
            reply = read_reply(content, n, self.address.betrayed)
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
        """Ask for one path below the base and read the JSON that comes."""
        return (await self._got(method, path, body, timeout, headers, hold)).content

    async def written(
        self, path: str, body: Body, *, timeout: float | None = None, headers: Mapping[str, str] | None = None
    ) -> Written:
        """POST and read the JSON that comes, and keep how it was written."""
        return await self._got("POST", path, body, timeout, headers, keep=True)

    async def _got(
        self,
        method: str,
        path: str,
        body: Body,
        timeout: float | None,
        headers: Mapping[str, str] | None,
        hold: Hold | None = None,
        keep: bool = False,
    ) -> Written:
        limit = self._limit(timeout)
        with self._told(limit):
            async with asyncio.timeout(limit if limit < UNTIMED else None):
                with nullcontext(hold) if hold else Hold(self.room) as taken:
                    async with self._sent(method, path, body, headers) as response:
                        content = await self._answer(response, taken)
                    kept = bytes(content) if keep else b""
                    return Written(parsed(content), kept, response.headers)
        raise AssertionError("what is not read is raised")

    @asynccontextmanager
    async def streamed(
        self, path: str, body: Body, *, timeout: float | None = None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[ClientResponse]:
        """POST and hand out the reply while it comes: its head has `timeout`, its parts are the caller's to time.

        A status other than 200 is raised as `request` raises it.
        """
        limit = self._limit(timeout)
        with self._told(limit), Hold(self.room) as hold:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(limit if limit < UNTIMED else None):
                    response = await stack.enter_async_context(self._sent("POST", path, body, headers))
                    if response.status != 200:
                        await self._answer(response, hold)
                yield response

    def _limit(self, timeout: float | None) -> float:
        if timeout is None:
            return self.try_timeout
        return timeout if timeout == UNTIMED else min(timeout, self.try_timeout)

    def _sent(
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
    def _told(self, limit: float) -> Iterator[None]:
        """Whatever goes wrong on the wire within the block is a TryError that says so."""
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
        why = "it asks for a user and a password" if status == NO_LOGIN else "it refused the connection"
        return ProxyError(f"no connection through the proxy {self.proxy}: {why} (HTTP {status})")

    async def _answer(self, response: ClientResponse, hold: Hold) -> bytearray:
        status = response.status
        compressed = response.headers.get("content-encoding", "identity").lower() != "identity"
        if status == 200:
            if compressed:
                raise TryError("the reply is compressed although that was not asked for")
            return await _read(response, MOST_BYTES, hold)
        try:
            content = await _read(response, MOST_ERROR, hold)
        except TooLargeError:
            content = bytearray()
        said = "" if compressed else self.address.masked(error_message(content)).removeprefix(f"{status} ")
        reason = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        if 300 <= status < 400:
            where = self.address.masked(response.headers.get("location", "").partition("?")[0], 200)
            raise RefusedError(f"HTTP {status}: it sends us on to {where or 'nowhere'}, and we follow nobody", status)
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
    """Slices of the parts of a body; the next one is taken when the connection has room for it."""
    for part in parts:
        for start in range(0, len(part), PIECE):
            yield memoryview(part)[start : start + PIECE]


async def _read(response: ClientResponse, most: int, hold: Hold) -> bytearray:
    """The body, unless it is longer than `most`; beyond SMALL bytes it waits for room."""
    content = bytearray()
    length = response.content_length
    size = length or 0
    while size <= most and (part := await response.content.readany()):
        size = len(content) + len(part)
        if SMALL < size <= most and not hold.size:
            await hold.take(length or most)
        content += part
    if size <= most:
        return content
    content.clear()
    raise TooLargeError(f"the reply is longer than {most / 2**20:.3g} MB")
