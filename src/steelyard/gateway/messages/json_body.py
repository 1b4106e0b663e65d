"""A JSON object in a request body, with the position of each member: unchanged members are passed on byte for byte.

Only the bytes of a long body are stored. A value is built when it is first read, because Python objects take up to 24
times the memory of their JSON: 8 MB of `{},` are 200 MB. For the same reason the number of values is bounded before any
of them is built: outside of strings every value but the first of a list or an object follows a comma, and every
list or object has an opening bracket.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, TypeAlias

from steelyard.gateway.messages.api_errors import ApiError

Span: TypeAlias = tuple[int, int, int]  # where a member and its value start, and where both end
Parts: TypeAlias = tuple[bytes | memoryview, ...]
SHORT_BODY = 2**14  # bytes: its values are built at once
LONG_BODY = 2**20
TOO_DEEP = "the body is nested too deeply"
LONG = "Exceeds the limit"  # begins Python's error for a number with thousands of digits
_SPACE = re.compile(r"[ \t\n\r]*")
MAX_VALUES = 100_000  # at most 22 MB as Python objects, and far more than any chat request has
_STRUCTURAL = (b"{", b"[", b",")


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


class Values(Mapping[str, Any]):
    """The values of an object by name, each built when it is first read."""

    def __init__(self, body: bytes, spans: dict[str, Span], built: dict[str, Any]) -> None:
        self._body, self._spans, self._built = body, spans, built

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            _, start, end = self._spans[name]
            try:
                self._built[name] = json.loads(self._body[start:end])
            except RecursionError:  # the stack is deeper now than when it was first parsed
                raise ApiError(400, TOO_DEEP, code="invalid_json") from None
        return self._built[name]

    def get(self, name: str, default: Any = None) -> Any:
        """As for every mapping, but without an exception for each missing name."""
        return self[name] if name in self._spans else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


class Members:
    """The members of an object by name: their values, and how they were written."""

    def __init__(self, body: bytes, spans: dict[str, Span], built: dict[str, Any]) -> None:
        self._body, self._spans = body, spans
        self.values: Mapping[str, Any] = Values(body, spans, built)

    @property
    def size(self) -> int:
        """The bytes of all values as they are written."""
        return sum(end - start for _, start, end in self._spans.values())

    def encoded(self, *, without: frozenset[str] = frozenset(), **changed: Any) -> bytes:
        """The object without some members and with others changed; changed ones come last.

        >>> read_members(b'{"a": 1.0,"b": [ ], "c": 3}').encoded(without=frozenset({"c"}), b=2)
        b'{"a": 1.0,"b":2}'
        """
        return b"".join(self._parts(without, changed))

    def to_send(self, *, without: frozenset[str] = frozenset(), **changed: Any) -> bytes | Parts:
        """As `encoded`; the parts of a long object are not joined, so that no copy of it is held in memory."""
        parts = self._parts(without, changed)
        return parts if len(self._body) > LONG_BODY else b"".join(parts)

    def _parts(self, without: frozenset[str], changed: dict[str, Any]) -> Parts:
        body = memoryview(self._body)
        parts: list[bytes | memoryview] = []
        for name, (start, _, end) in self._spans.items():
            if name not in without and name not in changed:
                parts += [b",", body[start:end]]
        if changed:
            parts += [b",", json.dumps(changed, separators=(",", ":")).encode()[1:-1]]
        return (b"{", *parts[1:], b"}")


def read_members(body: bytes) -> Members:
    """Read a JSON object in UTF-8; a ValueError if it is not one, or has a duplicate member.

    >>> read_members(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the body has the field 'a' twice
    """
    if has_too_many_values(body):
        raise ValueError(f"the body has more than {MAX_VALUES:,} values")
    body.decode()  # raises if it is not UTF-8
    values: dict[str, Any] = {}
    spans = _spans(body, values)
    return Members(body, spans, values if len(body) <= SHORT_BODY and body.isascii() else {})


def _spans(body: bytes, values: dict[str, Any]) -> dict[str, Span]:
    """The positions of each member and its value; the values of a short body are added to `values`.

    Read as Latin-1 every byte is one character, and the syntax of JSON stays the same. The values are right
    only if the body is ASCII.
    """
    text = body.decode("latin-1")
    spans: dict[str, Span] = {}
    at = _after(text, 0, "{", "the body must be a JSON object")
    if text[at : at + 1] == "}":
        return _checked_end(text, at + 1, spans)
    while True:
        start = at
        name, end = _name(text, body, start)
        at = _after(text, end, ":", "the body is not JSON: a field has no ':'")
        if name in spans:
            raise ValueError(f"the body has the field {name!r:.60} twice")
        try:
            value, end = _DECODER.raw_decode(text, at)
        except RecursionError:
            raise ValueError(TOO_DEEP) from None
        except ValueError as error:
            message = str(error)
            if message.startswith(LONG):
                message = "a number of the body has too many digits"
            raise ValueError(message) from None
        spans[name] = start, at, end
        if len(body) <= SHORT_BODY:
            values[name] = value
        del value
        at = _SPACE.match(text, end).end()  # type: ignore[union-attr]
        if text[at : at + 1] == "}":
            return _checked_end(text, at + 1, spans)
        at = _after(text, at, ",", "the body is not JSON: a ',' is missing between two fields")


def _name(text: str, body: bytes, at: int) -> tuple[str, int]:
    if text[at : at + 1] != '"':
        raise ValueError("the body is not JSON: a field has no name in quotes")
    name, end = scanstring(text, at + 1, True)
    return (name if name.isascii() else json.loads(body[at:end])), end


def _after(text: str, at: int, sign: str, wrong: str) -> int:
    """The index after a sign and the space around it."""
    at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
    if text[at : at + 1] != sign:
        raise ValueError(wrong)
    return _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]


def _checked_end(text: str, at: int, spans: dict[str, Span]) -> dict[str, Span]:
    if _SPACE.match(text, at).end() < len(text):  # type: ignore[union-attr]
        raise ValueError("the body is not JSON: there is text after the object")
    return spans


def has_too_many_values(text: bytes, limit: int = MAX_VALUES) -> bool:
    """Whether a JSON text may contain more than `limit` values, not counting the contents of strings.

    >>> has_too_many_values(b'[{}, {}, {}]', limit=3), has_too_many_values(b'["a,b,c,{", "[,"]', limit=3)
    (True, False)
    """
    if _count_structural(text) <= limit:
        return False
    bare = text.replace(b"\\\\", b"").replace(b'\\"', b"")  # without escapes, quotes only begin and end strings
    if bare.count(b'"') > 4 * limit:  # each value has two quotes at most, and so has its name
        return True
    return _count_structural(b"".join(bare.split(b'"')[::2])) > limit


def _count_structural(text: bytes) -> int:
    return sum(text.count(character) for character in _STRUCTURAL)
