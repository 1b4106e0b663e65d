"""json: a JSON value in canonical form: keys sorted, no white space, 1.0 as 1.

The answer is the last object of the response, else its last list, else the whole response. An object with a field
`answer` stands for that field.
"""

from __future__ import annotations

import json
from typing import Any

from steelyard.answers.kind import Kind, NamedRule

MAX_FAILURES = 100  # failed attempts to decode a value
LONGEST = 20_000
_ANSWER = ("answer", "final_answer", "Answer")


def _refused(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity are not JSON


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


_DECODER = json.JSONDecoder(parse_constant=_refused, parse_float=_number)


def json_form(answer: str) -> str:
    """Return the canonical form; a text that is not JSON is returned with the prefix `text:`.

    >>> json_form('{"b": 1.0, "a": [true, null]}'), json_form("no JSON")
    ('{"a":[true,null],"b":1}', 'text:no JSON')
    """
    try:
        value = _DECODER.decode(answer.strip()) if len(answer) <= LONGEST else None
        if value is not None or answer.strip() == "null":
            return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        pass
    return "text:" + answer.strip().removeprefix("text:")


def last_value(text: str) -> str | None:
    """Return the last object in a text, else its last list, as written.

    >>> last_value('First [1], then {"a": [2]} it is'), last_value("from [1] to [2, 3]"), last_value("none")
    ('{"a": [2]}', '[2, 3]', None)
    """
    best: tuple[bool, str] | None = None
    at, failures = 0, 0
    while failures < MAX_FAILURES:
        at = min((start for start in (text.find("{", at), text.find("[", at)) if start >= 0), default=-1)
        if at < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            failures, at = failures + 1, at + 1
            continue
        if best is None or isinstance(value, dict) or not best[0]:
            best = isinstance(value, dict), _inner(value, text[at:end])
        at = end
    return best[1] if best else None


def _inner(value: Any, written: str) -> str:
    """The answer field of an object that has one, else the value as written."""
    if isinstance(value, dict):
        for name in _ANSWER:
            if name in value:
                return json.dumps(value[name], ensure_ascii=False)
    return written


def _whole(text: str) -> str | None:
    """The text, if it is one JSON value; numbers and strings count."""
    bare = text.strip().strip("`")
    try:
        value = _DECODER.decode(bare)
    except (ValueError, RecursionError):
        return None
    return _inner(value, bare)


MARKED: tuple[NamedRule, ...] = (("json", last_value),)
KIND = Kind("json", MARKED, (("whole", _whole),), _whole, json_form)
