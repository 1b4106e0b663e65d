r"""The bytes of a reply -> what they say in JSON, within bounds on the memory that this takes.

Python's objects take up to fifteen times the room of their JSON: 33 MB of `[],` are 1.1 GB. Every value that is not
alone has a comma before or after it, and every other one a bracket, so brackets and commas bound what can be built: a
million of them, with whatever stands between, are 220 MB at most, as measured. The bytes of a token, which servers
send with its log-probability and nobody reads, are taken out first: without them a reply of 100,000 tokens fits.
One character above U+FFFF makes Python keep the whole text in four bytes a character, so that long replies are read
with `\u` for all that is not ASCII.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

from steelyard.sampling.llm.faults import TooLargeError, TryError
from steelyard.sampling.llm.reply_memory import SMALL

MOST_BYTES = 32 * 2**20
MOST_PARTS = 1_000_000
PIECE = 2**20  # bytes that are made ASCII at once
ESCAPED = "steelyard-json"

_BYTES = re.compile(rb'"bytes":\s*\[[\d,\s]*\]')
_FIRST = re.compile(rb"[^ \t\r\n]")


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(ESCAPED, _escape)


def parsed(body: bytes | bytearray) -> Any:
    """Read JSON. A bytearray is empty afterwards: of a long reply there is never more than one copy.

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
    """What is to be read, counted; a short reply as it is."""
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
