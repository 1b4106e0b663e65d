"""json: a JSON value, in canonical form: keys sorted, white space gone, 1.0 as 1.

The last object of the response, else its last list, else all of it. An object with a field `answer` stands for
that field.
"""

from __future__ import annotations

import json
from typing import Any

from steelyard.answers.kind import Kind, Named

MOST_FAILURES = 100  # places at which a value is tried in vain
LONGEST = 20_000
_ANSWER = ("answer", "final_answer", "Answer")


def _refused(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity are no JSON


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


_DECODER = json.JSONDecoder(parse_constant=_refused, parse_float=_number)


def json_form(answer: str) -> str:
    """The canonical form; a text that is no JSON stays as it is.

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
    """The last object in a text, else its last list, as it is written.

    >>> last_value('First [1], then {"a": [2]} it is'), last_value("from [1] to [2, 3]"), last_value("none")
    ('{"a": [2]}', '[2, 3]', None)
    """
    best: tuple[bool, str] | None = None
    at, failures = 0, 0
    while failures < MOST_FAILURES:
        at = min((place for place in (text.find("{", at), text.find("[", at)) if place >= 0), default=-1)
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
    """An object with an answer stands for that."""
    if isinstance(value, dict):
        for name in _ANSWER:
            if name in value:
                return json.dumps(value[name], ensure_ascii=False)
    return written


def _whole(text: str) -> str | None:
    """All of a text that is one JSON value, a number or a quoted text too."""
    bare = text.strip().strip("`")
    try:
        value = _DECODER.decode(bare)
    except (ValueError, RecursionError):
        return None
    return _inner(value, bare)


MARKED: tuple[Named, ...] = (("json", last_value),)
KIND = Kind("json", MARKED, (("whole", _whole),), _whole, json_form)
