r"""A reply over HTTP/1.1, read from its connection as it comes: the head at once, the body part by part.

What could be read in two ways is no HTTP: a length that is no number or stands there twice, a length beside chunks, a
header that is folded, a line that ends in LF or CR alone, something behind the end of the reply. So is what does not
begin as HTTP does, before all of it is there: a server of another kind may never end its first line.
"""

from __future__ import annotations

import re

from steelyard.llm.wire import Wire, WireError

NO_HTTP = "it does not speak HTTP"
CUT = "it ended before the reply did"
LONGEST_HEAD = 2**16  # bytes
LONGEST_LINE = 2**12  # bytes of what stands around a chunk
SOME = 2**20  # bytes of a body that are taken at once
END = b"\r\n\r\n"
LINE = b"\r\n"
LAST = b"\r\n0\r\n\r\n"  # the end of a chunk, and of all of them
BODILESS = frozenset({204, 304})
SWITCHED = 101  # to something else than HTTP
_FIRST = re.compile(r"HTTP/1\.([01]) ([1-9]\d{2})(?: [^\r\n\0]*)?")
_BEGIN = b"HTTP/1."
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\r\n\0]*")
_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n\0]*)?")
_NEXT = re.compile(rb"\r\n([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n\0]{0,99})?\r\n")  # between two chunks, mostly


class HttpReply:
    """A reply whose head was read; `length` is that of its body, None where that is not told."""

    def __init__(self, wire: Wire, minor: str, status: int, headers: dict[str, str]) -> None:
        self.status, self.headers = status, headers  # by their names in lower case
        self._wire = wire
        self._chunked = _is_chunked(headers)
        self.length = 0 if status in BODILESS else None if self._chunked else _length(headers)
        self._whole = self.length == 0
        self._left = self.length or 0  # bytes of the body, or of the chunk that is read
        self._within = False  # whether a chunk was begun, whose end is still to be read
        said = headers.get("connection", "").lower()
        self._last = "close" in said or (minor == "0" and "keep-alive" not in said)  # request of its connection

    def leaves(self) -> bool:
        """Whether it was read to its end and leaves its connection to another; who stops at [DONE] may leave LAST."""
        if self._within and not self._left and self._wire.came == LAST:
            self._wire.taken(len(LAST))
            self._whole = True
        return self._whole and not self._last

    async def part(self) -> bytes:
        """What comes next of the body; empty at its end."""
        if self._chunked and not self._left and not self._whole:
            await self._next_chunk()
        if self._whole:
            return b""
        if self.length is None and not self._chunked:
            return await self._until_closed()
        while not self._wire.came:
            if not await self._wire.more():
                raise WireError(CUT)
        found = self._wire.taken(min(SOME, self._left))
        self._left -= len(found)
        if self._left:
            return found
        if self._chunked:
            return found + self._following()
        self._ended()
        return found

    def _following(self) -> bytes:
        """The chunks that have come whole behind the one that was read, but for the last."""
        came, at, parts = self._wire.came, 0, list[bytearray]()
        while (line := _NEXT.match(came, at)) and 0 < (size := int(line[1], 16)) <= len(came) - line.end():
            at = line.end() + size
            parts.append(came[line.end() : at])
        self._wire.taken(at)
        return b"".join(parts)

    async def _until_closed(self) -> bytes:
        """A body without a length ends with its connection."""
        while not self._wire.came:
            if not await self._wire.more():
                self._whole = self._last = True
                return b""
        return self._wire.taken(SOME)

    async def _next_chunk(self) -> None:
        """Read the end of a chunk and the line before the next; after the last one come lines that nobody needs."""
        if self._within and await _line(self._wire):
            raise WireError(NO_HTTP)
        self._within = False
        size = _SIZE.fullmatch(await _line(self._wire))
        if size is None:
            raise WireError(NO_HTTP)
        self._left = int(size[1], 16)
        self._within = self._left > 0
        if not self._within:
            while await _line(self._wire):
                pass
            self._ended()

    def _ended(self) -> None:
        """Note the end of the body; nothing may stand behind it."""
        self._whole = True
        if self._wire.came:
            raise WireError(NO_HTTP)


async def read_head(wire: Wire) -> HttpReply:
    """Read the head of the reply to what was sent; what comes before the real one (1xx) is passed over."""
    while True:
        text = (await _until(wire, END, LONGEST_HEAD, _BEGIN)).decode("latin-1")
        first, *lines = text.split("\r\n")
        found = _FIRST.fullmatch(first)
        if found is None:
            raise WireError(NO_HTTP)
        status = int(found[2])
        if status == SWITCHED:
            raise WireError(NO_HTTP)
        if status >= 200:
            return HttpReply(wire, found[1], status, _headers(lines))


def _headers(lines: list[str]) -> dict[str, str]:
    """The headers by their names in lower case; those of one name are joined.

    >>> _headers(["Content-Length: 7", "X-A: 1", "x-a: 2"])
    {'content-length': '7', 'x-a': '1, 2'}
    """
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise WireError(NO_HTTP)
        key, value = name.lower(), value.strip(" \t")
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


def _is_chunked(headers: dict[str, str]) -> bool:
    coded = headers.get("transfer-encoding")
    if coded is not None and (coded.lower() != "chunked" or "content-length" in headers):
        raise WireError(NO_HTTP)
    return coded is not None


def _length(headers: dict[str, str]) -> int | None:
    told = headers.get("content-length")
    if told is not None and not (told.isascii() and told.isdigit() and len(told) < 16):
        raise WireError(NO_HTTP)
    return None if told is None else int(told)


async def _line(wire: Wire) -> bytes:
    return await _until(wire, LINE, LONGEST_LINE)


async def _until(wire: Wire, end: bytes, most: int, begin: bytes = b"") -> bytes:
    """Take what comes up to an end, without it; nothing is searched twice, however small the pieces are."""
    seen = 0
    while (at := wire.came.find(end, seen)) < 0:
        lone = wire.came.count(b"\n", seen) > wire.came.count(LINE, max(0, seen - 1))
        if lone or not wire.came.startswith(begin[: len(wire.came)]) or len(wire.came) > most:
            raise WireError(NO_HTTP)
        seen = max(0, len(wire.came) - len(end) + 1)
        if not await wire.more():
            raise WireError(CUT)
    if at > most:
        raise WireError(NO_HTTP)
    return wire.taken(at + len(end))[:at]
