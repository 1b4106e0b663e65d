"""JSON out of hostile text: bounded in length and depth, numbers that are equal by value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

LONGEST = 1_000_000  # characters
DEEPEST = 64
FENCE = "```"
MAX_FENCES = 8  # fenced blocks tried, from the end


class NotJSONError(ValueError):
    """The text is not JSON, or too long or too deeply nested."""


def parse_json(text: str) -> Any:
    """Parse JSON, numbers without a fraction as integers.

    >>> parse_json('[5.0, 5, true, {"a": 1e3}]')
    [5, 5, True, {'a': 1000}]
    """
    if len(text) > LONGEST:
        raise NotJSONError
    try:
        value = _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        raise NotJSONError from None
    if sum(1 for _ in islice(_levels(value), DEEPEST + 2)) > DEEPEST + 1:
        raise NotJSONError
    return value


def parse_json_or_fence(text: str) -> Any:
    """Parse JSON, or the last fenced block that is JSON.

    >>> parse_json_or_fence('Here you are:\\n```json\\n{"a": 1}\\n```\\nAnything else?')
    {'a': 1}
    """
    for candidate in chain([text], _fenced(text)):
        try:
            return parse_json(candidate)
        except NotJSONError:
            continue
    raise NotJSONError


def is_json(text: str) -> bool:
    """Whether a text is JSON, or has a fenced block that is."""
    try:
        parse_json_or_fence(text)
    except NotJSONError:
        return False
    return True


def canonical(value: Any) -> str:
    """Return one spelling of a parsed value.

    >>> canonical({"b": 1, "a": [None]})
    '{"a":[null],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def count_leaves(value: Any) -> int:
    """Count the values that contain no others.

    >>> count_leaves({"a": [1, 2], "b": {}})
    3
    """
    return sum(not (isinstance(inner, dict | list) and inner) for level in _levels(value) for inner in level)


def _fenced(text: str) -> list[str]:
    blocks = text[:LONGEST].split(FENCE)[1:-1:2][-MAX_FENCES:]
    return [block.lstrip().removeprefix("json").removeprefix("JSON") for block in reversed(blocks)]


def _levels(value: Any) -> Iterator[list[Any]]:
    """Yield the values at every depth."""
    level = [value]
    while level:
        yield level
        containers = [inner for inner in level if isinstance(inner, dict | list)]
        level = list(chain.from_iterable(box.values() if isinstance(box, dict) else box for box in containers))


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def _refuse(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity are not JSON


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_number)
