"""A JSON object and the text of each of its members: what we do not change goes on byte for byte."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

LONG = "Exceeds the limit"  # what Python says of a number with thousands of digits
_SPACE = re.compile(r"[ \t\n\r]*")


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


class Members:
    """The members of an object by name: their values, and how they were written."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.written: dict[str, str] = {}

    def text(self, *, without: frozenset[str] = frozenset(), **changed: Any) -> str:
        """The object without some members and with others changed, which stand last.

        >>> read_members('{"a": 1.0,"b": [ ], "c": 3}').text(without=frozenset({"c"}), b=2)
        '{"a":1.0,"b":2}'
        """
        kept = [
            f"{json.dumps(name)}:{written}"
            for name, written in self.written.items()
            if name not in without and name not in changed
        ]
        added = [f"{json.dumps(name)}:{json.dumps(value)}" for name, value in changed.items()]
        return "{" + ",".join(kept + added) + "}"


def read_members(text: str) -> Members:
    """Read a JSON object; what is none, and one that names a member twice, is a ValueError.

    >>> read_members('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the body has the field 'a' twice
    """
    members = Members()
    at = _after(text, 0, "{", "the body must be a JSON object")
    if text[at : at + 1] == "}":
        return _whole(text, at + 1, members)
    while True:
        if text[at : at + 1] != '"':
            raise ValueError("the body is not JSON: a field has no name in quotes")
        name, at = scanstring(text, at + 1, True)
        at = _after(text, at, ":", "the body is not JSON: a field has no ':'")
        if name in members.values:
            raise ValueError(f"the body has the field {name!r:.60} twice")
        try:
            value, end = _DECODER.raw_decode(text, at)
        except RecursionError:
            raise ValueError("the body is nested too deeply") from None
        except ValueError as error:
            told = str(error)
            raise ValueError("a number of the body has too many digits" if told.startswith(LONG) else told) from None
        members.values[name], members.written[name] = value, text[at:end]
        at = _SPACE.match(text, end).end()  # type: ignore[union-attr]
        if text[at : at + 1] == "}":
            return _whole(text, at + 1, members)
        at = _after(text, at, ",", "the body is not JSON: there is no ',' between two fields")


def _after(text: str, at: int, sign: str, wrong: str) -> int:
    """The place after a sign and the space around it."""
    at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
    if text[at : at + 1] != sign:
        raise ValueError(wrong)
    return _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]


def _whole(text: str, at: int, members: Members) -> Members:
    if text[at:].strip(" \t\n\r"):
        raise ValueError("the body is not JSON: something stands after the object")
    return members
