"""A JSON object and where each of its members stands: what we do not change goes on byte for byte.

Of a body only the bytes are kept. A value is built when it is first read, so that unused fields are never held as
objects of Python, which take many times their size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from steelyard.gateway.messages.api_errors import ApiError
from steelyard.gateway.messages.json_bounds import MAX_VALUES, has_too_many_values

TOO_DEEP = "the body is nested too deeply"
LONG = "Exceeds the limit"  # what Python says of a number with thousands of digits
_SPACE = re.compile(r"[ \t\n\r]*")


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


class Values(Mapping[str, Any]):
    """The values of an object by name, each built when it is first read."""

    def __init__(self, body: bytes, spans: dict[str, tuple[int, int]]) -> None:
        self._body, self._spans = body, spans
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            start, end = self._spans[name]
            try:
                self._built[name] = json.loads(self._body[start:end])
            except RecursionError:  # it was just readable before
                raise ApiError(400, TOO_DEEP, code="invalid_json") from None
        return self._built[name]

    def get(self, name: str, default: Any = None) -> Any:
        """As of every mapping, without an exception for each of the many names that are missing."""
        return self[name] if name in self._spans else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


class Members:
    """The members of an object by name: their values, and how they were written."""

    def __init__(self, body: bytes, spans: dict[str, tuple[int, int]]) -> None:
        self._body, self._spans = body, spans
        self.values: Mapping[str, Any] = Values(body, spans)

    @property
    def size(self) -> int:
        """The bytes of all values as they are written."""
        return sum(end - start for start, end in self._spans.values())

    def encoded(self, *, without: frozenset[str] = frozenset(), **changed: Any) -> bytes:
        """The object without some members and with others changed, which stand last.

        >>> read_members(b'{"a": 1.0,"b": [ ], "c": 3}').encoded(without=frozenset({"c"}), b=2)
        b'{"a":1.0,"b":2}'
        """
        parts: list[bytes | memoryview] = []
        body = memoryview(self._body)
        for name, (start, end) in self._spans.items():
            if name not in without and name not in changed:
                parts += [b",", json.dumps(name).encode(), b":", body[start:end]]
        for name, value in changed.items():
            parts += [b",", json.dumps(name).encode(), b":", json.dumps(value).encode()]
        return b"".join([b"{", *parts[1:], b"}"])


def read_members(body: bytes) -> Members:
    """Read a JSON object in UTF-8; what is none, and one that names a member twice, is a ValueError.

    >>> read_members(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the body has the field 'a' twice
    """
    if has_too_many_values(body):
        raise ValueError(f"the body has more than {MAX_VALUES:,} values")
    body.decode()  # to refuse what is no UTF-8
    return Members(body, _spans(body))


def _spans(body: bytes) -> dict[str, tuple[int, int]]:
    """Where the value of each member stands.

    Read as Latin-1 every byte is one character, whatever it means, and JSON has the same signs.
    """
    text = body.decode("latin-1")
    spans: dict[str, tuple[int, int]] = {}
    at = _after(text, 0, "{", "the body must be a JSON object")
    if text[at : at + 1] == "}":
        return _checked_end(text, at + 1, spans)
    while True:
        if text[at : at + 1] != '"':
            raise ValueError("the body is not JSON: a field has no name in quotes")
        _, end = scanstring(text, at + 1, True)
        name = json.loads(body[at:end])
        at = _after(text, end, ":", "the body is not JSON: a field has no ':'")
        if name in spans:
            raise ValueError(f"the body has the field {name!r:.60} twice")
        try:
            _, end = _DECODER.raw_decode(text, at)
        except RecursionError:
            raise ValueError(TOO_DEEP) from None
        except ValueError as error:
            message = str(error)
            if message.startswith(LONG):
                message = "a number of the body has too many digits"
            raise ValueError(message) from None
        spans[name] = at, end
        at = _SPACE.match(text, end).end()  # type: ignore[union-attr]
        if text[at : at + 1] == "}":
            return _checked_end(text, at + 1, spans)
        at = _after(text, at, ",", "the body is not JSON: there is no ',' between two fields")


def _after(text: str, at: int, sign: str, wrong: str) -> int:
    """The index after a sign and the space around it."""
    at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
    if text[at : at + 1] != sign:
        raise ValueError(wrong)
    return _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]


def _checked_end(text: str, at: int, spans: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    if _SPACE.match(text, at).end() < len(text):  # type: ignore[union-attr]
        raise ValueError("the body is not JSON: something stands after the object")
    return spans
