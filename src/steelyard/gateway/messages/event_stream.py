"""Server-sent events: written as OpenAI's clients read them, and read however an upstream cuts them into pieces."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from steelyard.gateway.messages.json_text import json_bytes
from steelyard.sampling.llm.faults import TooLargeError

HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
PING = b": ping\n\n"
DONE = b"[DONE]"
LONGEST = 2**22  # bytes of one event
LONGEST_STREAM = 2**28  # bytes of all events; 128,000 tokens with 20 alternatives each have as many
TAKEN = 60.0  # seconds in which a client takes what is written
LEAST_RATE = 2**15  # bytes per second that a client has to read beyond that


class ClientLeftError(Exception):
    """The client has disconnected or stopped reading. Unlike an OSError it cannot be mistaken for an upstream's."""


@contextmanager
def to_client() -> Iterator[None]:
    """Raise a ClientLeftError for a connection that fails within the block, which only writes to the client."""
    try:
        yield
    except ConnectionError as error:
        raise ClientLeftError(str(error)) from None


def event(content: Any) -> bytes:
    """One event of a stream, from an object or from its JSON."""
    data = content if isinstance(content, bytes) else json_bytes(content)
    return b"data: " + data + b"\n\n"


class Stream(web.StreamResponse):
    """A reply in pieces whose client has to read on: one that reads nothing, or next to nothing, is disconnected."""

    _blocked = 0.0  # seconds that were spent waiting for the client
    _taken = 0  # bytes

    async def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write a piece; a client that does not take it in time is disconnected."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(min(TAKEN, TAKEN + self._taken / LEAST_RATE - self._blocked)):
                await super().write(data)
        except TimeoutError:
            self.disconnect()
            raise ConnectionResetError("the client has stopped reading") from None
        self._blocked += time.monotonic() - began
        self._taken += len(data)

    def disconnect(self) -> None:
        """Drop the connection and whatever was not sent yet."""
        if self._req is not None and self._req.transport is not None:
            self._req.transport.abort()


async def begun(request: web.Request, headers: Mapping[str, str] | None = None) -> web.StreamResponse:
    """Begin a stream."""
    response = Stream(headers={**HEADERS, **(headers or {})})
    response.content_type = "text/event-stream"
    await response.prepare(request)
    return response


def break_off(request: web.Request) -> None:
    """End a stream that failed so that no client takes it for whole: what was written is sent, its end is not."""
    if request.transport is not None:
        request.transport.close()


class EventLines:
    """Splits a stream into events, however it is cut into pieces and whatever its line ends.

    Both the size of one event and the total are bounded: every `data:` line counts, also an empty one.
    """

    def __init__(self) -> None:
        self._line = bytearray()  # the part of the current line that has arrived
        self._data: list[bytes] = []
        self._size = 0  # bytes of the current event
        self._total = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the data of the events that end in this piece.

        >>> lines = EventLines()
        >>> list(lines.feed(b'data: {"a"')), list(lines.feed(b': 1}\\r')), list(lines.feed(b'\\n\\r\\n: ping\\n\\n'))
        ([], [], [b'{"a": 1}'])

        Raises:
            TooLargeError: an event is longer than LONGEST, or the stream longer than LONGEST_STREAM.
        """
        self._total += len(piece)
        if self._total > LONGEST_STREAM:
            raise TooLargeError(f"the stream is longer than {LONGEST_STREAM // 2**20} MB")
        if self._line.endswith(b"\r"):
            piece = b"\r" + piece
            del self._line[-1:]
        held = piece.endswith(b"\r")  # its newline may arrive with the next piece
        *lines, last = (piece[:-1] if held else piece).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        if lines:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
        for line in lines:
            if not line and self._data:
                data, self._data, self._size = self._data, [], 0
                yield b"\n".join(data)
            elif line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
                self._size += len(line)
                if self._size > LONGEST:
                    break
        self._line += last + (b"\r" if held else b"")
        if self._size + len(self._line) > LONGEST:
            raise TooLargeError(f"an event of the stream is longer than {LONGEST // 2**20} MB")

    def end(self) -> Iterator[bytes]:
        """Yield the event that the end of the stream ends."""
        yield from self.feed(b"\n\n")
