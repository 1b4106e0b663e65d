"""One request to an OpenAI-compatible server, and what became of it.

No proxies, no redirects, no cookies, no compression; bodies up to 32 MB; a deadline for every try. What fails is a
`TryError` of faults.py with a reason on one line; the key is in no text that leaves this file.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import TYPE_CHECKING, Any

from steelyard.sampling.address import CHAT, HIDDEN, Address
from steelyard.sampling.faults import BusyError, GoneError, LateError, RefusedError, TooLargeError, TryError
from steelyard.sampling.reply import MOST_BYTES, error_message
from steelyard.sampling.retry_after import retry_after
from steelyard.version import __version__

if TYPE_CHECKING:
    import aiohttp

BUSY = frozenset({429, 503, 529})
AGAIN = frozenset({408, 409, 425})
CONNECT = 10.0  # seconds
MOST_ERROR = 2**16  # bytes read of an error reply
JSON = {"Content-Type": "application/json"}


class Client:
    """A connection to one server, used as `async with Client(address) as client`."""

    def __init__(self, address: Address, *, try_timeout: float = 600.0) -> None:
        self.address = address
        self.try_timeout = try_timeout
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Client:
        import aiohttp

        headers = {"Accept-Encoding": "identity", "User-Agent": f"steelyard/{__version__}"}
        if self.address.key:
            headers["Authorization"] = f"Bearer {self.address.key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=self.try_timeout, sock_connect=min(CONNECT, self.try_timeout)),
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session:
            await self._session.close()

    async def chat(self, body: dict[str, Any], *, timeout: float | None = None) -> bytes:
        """POST a chat completion and return the reply's body; a try that gives none is a `TryError`."""
        sent = json.dumps(body).encode()
        return await self.request("POST", CHAT, sent, timeout=timeout)

    async def request(
        self, method: str, path: str, body: bytes | None = None, *, timeout: float | None = None
    ) -> bytes:
        """Ask for one path below the base."""
        import aiohttp

        if self._session is None:
            raise AssertionError("use the client within 'async with'")
        limit = self.try_timeout if timeout is None else min(timeout, self.try_timeout)
        options: dict[str, Any] = {}
        if limit < self.try_timeout:
            options["timeout"] = aiohttp.ClientTimeout(total=limit, sock_connect=min(CONNECT, limit))
        if body is not None:
            options |= {"data": body, "headers": JSON}
        url = self.address.base + path
        try:
            async with self._session.request(method, url, allow_redirects=False, **options) as response:
                return await self._answer(response)
        except (TimeoutError, aiohttp.ServerTimeoutError):
            raise LateError(f"no answer within {limit:.3g} s") from None
        except aiohttp.ClientConnectorError as error:
            raise GoneError(f"no connection to {self.address.base}: {_cause(error.os_error)}") from None
        except (aiohttp.ClientError, OSError, ValueError, EOFError) as error:
            raise TryError(self.address.masked(f"the connection broke: {_cause(error)}")) from None

    async def _answer(self, response: aiohttp.ClientResponse) -> bytes:
        status = response.status
        if status == 200:
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                raise TryError("the reply is compressed although that was not asked for")
            content = await _read(response, MOST_BYTES)
            key = self.address.key
            return content.replace(key.encode(), HIDDEN.encode()) if key else content
        try:
            said = self.address.masked(error_message(await _read(response, MOST_ERROR)))
        except TooLargeError:
            said = ""
        reason = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        if 300 <= status < 400:
            where = self.address.masked(response.headers.get("Location", "").partition("?")[0])[:200]
            raise RefusedError(f"HTTP {status}: it sends us on to {where or 'nowhere'}, and we follow nobody", status)
        if status == 429 and "insufficient_quota" in said:
            raise RefusedError(reason, 402)
        if status in BUSY:
            raise BusyError(reason, retry_after(response.headers))
        if 400 <= status < 500 and status not in AGAIN:
            raise RefusedError(reason, status)
        raise TryError(reason)


async def _read(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body, unless it is longer than `most`."""
    parts: list[bytes] = []
    size = 0
    too_large = TooLargeError(f"the reply is longer than {most / 2**20:.3g} MB")
    if (response.content_length or 0) > most:
        response.close()
        raise too_large
    async for part in response.content.iter_any():
        size += len(part)
        if size > most:
            response.close()
            raise too_large
        parts.append(part)
    return b"".join(parts)


def _cause(error: BaseException) -> str:
    """A short reason in words; paths, addresses and long lists of bytes are of no use to the user."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    if hasattr(error, "status"):
        return "it does not speak HTTP"
    text = str(error).partition("\n")[0].partition(" for url")[0][:120].strip().rstrip(":")
    return text or type(error).__name__
