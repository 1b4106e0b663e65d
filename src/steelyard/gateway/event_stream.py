"""Server-sent events: written as OpenAI's clients read them, and read however an upstream cuts them into pieces."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import web

from steelyard.gateway.json_text import json_bytes

HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
PING = b": ping\n\n"
DONE = b"[DONE]"
LONGEST = 2**22  # bytes of one event
TAKEN = 60.0  # seconds in which a client takes what is written


def event(content: Any) -> bytes:
    """One event of a stream, from an object or from its JSON."""
    data = content if isinstance(content, bytes) else json_bytes(content)
    return b"data: " + data + b"\n\n"


class Stream(web.StreamResponse):
    """A stream whose client has to read on: one that keeps its connection and reads nothing holds no place for ever."""

    async def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write a piece; a client that takes none of it for long is let go."""
        try:
            async with asyncio.timeout(TAKEN):
                await super().write(data)
        except TimeoutError:
            if self._req is not None and self._req.transport is not None:
                self._req.transport.abort()
            raise ConnectionResetError("the client has stopped reading") from None


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
    """Takes a stream piece by piece and gives the data of its events, whatever their line ends."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of the events that end in this piece; a ValueError where an event is endless.

        >>> lines = EventLines()
        >>> list(lines.feed(b'data: {"a"')), list(lines.feed(b': 1}\\r')), list(lines.feed(b'\\n\\r\\n: ping\\n\\n'))
        ([], [], [b'{"a": 1}'])
        """
        text = self._rest + piece
        held = text.endswith(b"\r")  # its newline may come with the next piece
        lines = (text[:-1] if held else text).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + (b"\r" if held else b"")
        for line in lines:
            if not line:
                yield from self._ended()
            elif line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
        if len(self._rest) + sum(map(len, self._data)) > LONGEST:
            raise ValueError("an event of the stream is endless")

    def end(self) -> Iterator[bytes]:
        """The event that the end of the stream ends."""
        yield from self.feed(b"\n\n")

    def _ended(self) -> Iterator[bytes]:
        if self._data:
            data, self._data = b"\n".join(self._data), []
            yield data
