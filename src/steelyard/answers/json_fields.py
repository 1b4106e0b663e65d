"""Find the answer field of a JSON reply, even if it is not valid JSON: LaTeX in it is often not escaped."""

from __future__ import annotations

import json
import re

MAX_FIELDS = 3  # fields tried, from the end
LONGEST_LEAD = 8  # characters of a key before its "nswer": a quote, "final_" and an "a"
AHEAD = 50  # characters of a key from there on: the quotes, the colon and white space around it
_CLOSING = ('"', "'", "”")
_KEY = re.compile(r"""["'“](?:final[_ ]?)?answer["'”]\s{0,20}:\s{0,20}""", re.IGNORECASE)
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.){0,4000})"', re.DOTALL)
_SINGLE = re.compile(r"'((?:[^'\\]|\\.){0,4000})'", re.DOTALL)
_PLAIN = re.compile(r"-?[\d.][\d.,eE+-]{0,60}(?<![,.])|true|false|null", re.IGNORECASE)
_DECODER = json.JSONDecoder()


def json_field(text: str) -> str | None:
    r"""Return the value of the last answer field; the empty string if the field is empty or null.

    >>> json_field('{"reasoning": "5 + 7", "answer": "12"}'), json_field(r'{"answer": "\frac{1}{6}"}')
    ('12', '\\frac{1}{6}')
    >>> json_field('{"answer": ""}'), json_field('{"answer": [1, 2]}'), json_field("no field")
    ('', '[1, 2]', None)
    """
    return last_field(text)[1]


def last_field(text: str) -> tuple[int, str | None]:
    """Return the position and value of the last answer field, or (-1, None)."""
    for key in sorted(_keys(text), key=re.Match.start, reverse=True)[:MAX_FIELDS]:
        value = _value(text, key.end())
        if value is not None:
            return key.start(), value
    return -1, None


def _keys(text: str) -> list[re.Match[str]]:
    """The keys of answer fields: find the word first, and try the pattern only where a quote follows it."""
    keys = []
    for word in ("nswer", "NSWER"):
        at = text.find(word)
        while at >= 0:
            if text[at + 5 : at + 6] in _CLOSING:
                key = _KEY.search(text, max(0, at - LONGEST_LEAD), at + AHEAD)
                if key and key.start() < at < key.end():
                    keys.append(key)
            at = text.find(word, at + 5)
    return keys


def _value(text: str, at: int) -> str | None:
    for pattern in (_DOUBLE, _SINGLE):
        quoted = pattern.match(text, at)
        if quoted:
            inner = quoted[1]
            return inner.replace("\\\\", "\\").replace('\\"', '"').replace("\\n", " ") if "\\" in inner else inner
    if text[at : at + 1] in ("[", "{"):
        try:
            _, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        return text[at:end]
    plain = _PLAIN.match(text, at)
    if not plain:
        return None
    return "" if plain[0].lower() == "null" else plain[0]
