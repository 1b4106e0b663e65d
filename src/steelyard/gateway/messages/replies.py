"""Replies to clients: ids, JSON, and server-sent events as OpenAI's clients read them.

aiohttp hands a complete reply to the socket after the handler has returned, so clients that read nothing could make the
server hold any number of replies. Here long replies are sent piece by piece while the request still counts as in
flight. Clients that stop reading are disconnected, and all unread replies share one limit: beyond it the oldest is
dropped.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from steelyard.runs.journal_lines import finite

HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
PING = b": ping\n\n"
DONE = b"[DONE]"
READ_TIMEOUT = 60.0  # seconds that a client has to read what is written
MIN_RATE = 2**15  # bytes per second that a client has to read beyond that
_ENCODER = json.JSONEncoder(allow_nan=False)
PIECE = 2**16  # bytes; a reply up to this size fits into the buffer of a socket
MAX_UNREAD = 2**28  # bytes of all unread replies
JSON = "application/json"
BYTES = 16  # of an id: too many to guess
BLOCK = 64  # ids


class ClientDisconnectedError(Exception):
    """The client has disconnected or stopped reading. Unlike an OSError it cannot be mistaken for an upstream's."""


@contextmanager
def to_client() -> Iterator[None]:
    """Raise a ClientDisconnectedError for a connection that fails within the block, which only writes to the client."""
    try:
        yield
    except ConnectionError as error:
        raise ClientDisconnectedError(str(error)) from None


def event(content: Any) -> bytes:
    """One event of a stream, from an object or from its JSON."""
    data = content if isinstance(content, bytes) else json_bytes(content)
    return b"data: " + data + b"\n\n"


class Stream(web.StreamResponse):
    """A reply in pieces; a client that reads nothing, or next to nothing, is disconnected."""

    _blocked = 0.0  # seconds spent waiting for the client
    _read_bytes = 0  # bytes

    async def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write a piece; a client that does not read it in time is disconnected."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(min(READ_TIMEOUT, READ_TIMEOUT + self._read_bytes / MIN_RATE - self._blocked)):
                await super().write(data)
        except TimeoutError:
            self.disconnect()
            raise ConnectionResetError("the client has stopped reading") from None
        self._blocked += time.monotonic() - began
        self._read_bytes += len(data)

    def disconnect(self) -> None:
        """Drop the connection and whatever was not sent yet."""
        if self._req is not None and self._req.transport is not None:
            self._req.transport.abort()


async def start_stream(request: web.Request, headers: Mapping[str, str] | None = None) -> web.StreamResponse:
    response = Stream(headers={**HEADERS, **(headers or {})})
    response.content_type = "text/event-stream"
    await response.prepare(request)
    return response


def cut_stream(request: web.Request) -> None:
    """End a failed stream so that no client takes it for complete: the data written so far is sent, its end is not."""
    if request.transport is not None:
        request.transport.close()


class UnreadReplies:
    """The replies that clients have not read yet."""

    def __init__(self, limit: int = MAX_UNREAD) -> None:
        self.limit = limit
        self._sizes: dict[Stream, int] = {}  # the oldest first

    @contextmanager
    def track(self, reply: Stream, size: int) -> Iterator[None]:
        """Count a reply while it is being sent, and drop the oldest ones if the total exceeds the limit."""
        while self._sizes and sum(self._sizes.values()) + size > self.limit:
            oldest = next(iter(self._sizes))
            del self._sizes[oldest]
            oldest.disconnect()
        self._sizes[reply] = size
        try:
            yield
        finally:
            self._sizes.pop(reply, None)


UNREAD = web.AppKey("unread", UnreadReplies)


async def json_reply(request: web.Request, body: bytes, headers: Mapping[str, str] | None = None) -> web.StreamResponse:
    """Send a JSON body; short ones are left to aiohttp."""
    if len(body) <= PIECE:
        return web.Response(body=body, content_type=JSON, headers=headers)
    response = Stream(headers=headers)
    response.content_type, response.content_length = JSON, len(body)
    with request.app[UNREAD].track(response, len(body)):
        await response.prepare(request)
        view = memoryview(body)
        for at in range(0, len(body), PIECE):
            await response.write(view[at : at + PIECE])
        await response.write_eof()
    return response


def json_bytes(content: Any) -> bytes:
    """The JSON of a reply; NaN and Infinity are written as null, because most clients cannot read them.

    >>> json_bytes({"logprob": float("-inf"), "rest": [1.5, float("nan")]})
    b'{"logprob": null, "rest": [1.5, null]}'
    """
    try:
        return _ENCODER.encode(content).encode()
    except ValueError:
        return _ENCODER.encode(finite(content)).encode()


def is_strict(data: bytes) -> bool:
    """Whether bytes that Python reads as JSON are strict JSON: UTF-8, without NaN and Infinity.

    >>> is_strict(b'{"a": 1}'), is_strict(b'{"a": NaN}'), is_strict(b'"\\xed\\xa0\\x80"')
    (True, False, False)
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"NaN" not in data and b"Infinity" not in data


def random_id() -> str:
    """32 hexadecimal digits.

    >>> len(random_id()), random_id() == random_id()
    (32, False)
    """
    return next(_ids)


def _read_ids() -> Iterator[str]:
    while True:
        digits = os.urandom(BYTES * BLOCK).hex()
        yield from (digits[i : i + 2 * BYTES] for i in range(0, len(digits), 2 * BYTES))


_ids = _read_ids()
