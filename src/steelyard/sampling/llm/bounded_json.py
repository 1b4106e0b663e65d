r"""Parses the JSON of replies in bounded memory, that of one reply and that of all replies at once.

Python's objects take up to fifteen times the memory of their JSON: 33 MB of `[],` are 1.1 GB. Every value that is not
alone has a comma before or after it, and every other one a bracket, so brackets and commas bound what can be built: a
million of them, with anything in between, are 220 MB at most, as measured. The bytes of a token, which servers
send with its log-probability and no code reads, are removed first: without them a reply of 100,000 tokens fits.
One character above U+FFFF makes Python store the whole text in four bytes a character, so long replies are read with
`\u` for all that is not ASCII.

A reply up to SMALL bytes is read as it arrives. A longer one first reserves as much memory as it may need, all at once,
so that no two replies wait for each other half read; until there is memory it stays on the wire. The memory is released
when its samples are written down, or when the reply is refused. A thousand huge replies cost what one costs.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import re
from collections import deque
from typing import Any

from steelyard.sampling.llm.faults import TooLargeError, TryError

MOST_BYTES = 32 * 2**20
MOST_PARTS = 1_000_000
PIECE = 2**20  # bytes that are converted to ASCII at once
ESCAPED = "steelyard-json"  # the name of an error handler
_BYTES = re.compile(rb'"bytes":\s*\[[\d,\s]*\]')
_FIRST = re.compile(rb"[^ \t\r\n]")
SMALL = 2**18  # bytes of a reply that reserves no memory
TOTAL = 48 * 2**20  # bytes: one reply of the maximal length and some shorter ones


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(ESCAPED, _escape)


def parsed(body: bytes | bytearray) -> Any:
    """Parse JSON. A bytearray is empty afterwards: there is never more than one copy of a long reply.

    >>> parsed(b'{"a": [1]}')
    {'a': [1]}
    """
    first = _FIRST.search(body)
    if first is None:
        raise TryError("the reply is empty")
    html = first.group() == b"<"
    try:
        return json.loads(_text(body))
    except (ValueError, RecursionError, MemoryError):
        pass
    raise TryError("the reply is HTML" if html else "the reply is not JSON")


def _text(body: bytes | bytearray) -> str | bytes | bytearray:
    """The text to parse, after a check of its number of parts; a short reply unchanged."""
    if len(body) <= SMALL:
        return body
    bare = _BYTES.sub(b'"bytes":null', body)
    if isinstance(body, bytearray):
        body.clear()
    if sum(bare.count(sign) for sign in (b"{", b"[", b",")) > MOST_PARTS:
        del bare
        raise TooLargeError(f"the reply has more than {MOST_PARTS:,} parts")
    if bare.isascii():
        return bare.decode("ascii")
    decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")
    pieces = (decoder.decode(bare[i : i + PIECE], i + PIECE >= len(bare)) for i in range(0, len(bare), PIECE))
    return b"".join(piece.encode("ascii", ESCAPED) for piece in pieces).decode("ascii")


class Room:
    """The bytes that replies may still reserve; a reply that needs more waits for its turn."""

    def __init__(self, total: int = TOTAL) -> None:
        self.free = total
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def take(self, size: int) -> None:
        """Wait until `size` bytes are free and all earlier waiters have theirs, and reserve them."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give(size)
            else:
                turn.cancel()
                self._admit()
            raise

    def give(self, size: int) -> None:
        self.free += size
        self._admit()

    def _admit(self) -> None:
        while self._waiting and (self._waiting[0][1].done() or self._waiting[0][0] <= self.free):
            size, turn = self._waiting.popleft()
            if not turn.done():
                self.free -= size
                turn.set_result(None)


class Hold:
    """The bytes that one reply has reserved, released at the end of `with`."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.size = 0

    async def take(self, size: int) -> None:
        """Reserve bytes, once."""
        await self._room.take(size)
        self.size = size

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, *_: object) -> None:
        if self.size:
            self._room.give(self.size)
            self.size = 0
