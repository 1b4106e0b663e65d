"""Find an answer that a response sets apart: the last box, or the answer field of a JSON reply."""

from __future__ import annotations

import json
import re

MAX_BRACES = 4000  # the longest boxed answer
MAX_BOXES = 4  # boxes tried, from the end
_BRACE = re.compile(r"[{}]")
MAX_FIELDS = 3  # fields tried, from the end
LONGEST_LEAD = 8  # characters of a key before its "nswer": a quote, "final_" and an "a"
AHEAD = 50  # characters of a key from there on: the quotes, the colon and white space around it
_CLOSING = ('"', "'", "”")
_KEY = re.compile(r"""["'“](?:final[_ ]?)?answer["'”]\s{0,20}:\s{0,20}""", re.IGNORECASE)
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.){0,4000})"', re.DOTALL)
_SINGLE = re.compile(r"'((?:[^'\\]|\\.){0,4000})'", re.DOTALL)
_PLAIN = re.compile(r"-?[\d.][\d.,eE+-]{0,60}(?<![,.])|true|false|null", re.IGNORECASE)
_DECODER = json.JSONDecoder()


def boxed(text: str) -> str | None:
    r"""Return the content of the last closed box; a box that is never closed was cut off and is skipped.

    >>> boxed(r"\boxed{3}, so \boxed{\frac{1}{2}}, \boxed{}"), boxed(r"\boxed{3}, then \boxed{\frac{1}{")
    ('\\frac{1}{2}', '3')
    """
    return last_box(text)[1]


def last_box(text: str) -> tuple[int, str | None]:
    """Return the position and content of the last box, or (-1, None)."""
    end = len(text)
    for _ in range(MAX_BOXES):
        start = text.rfind("\\boxed", 0, end)
        start = max(start, text.rfind("\\fbox", max(0, start), end))
        if start < 0:
            break
        content = _braced(text, start)
        if content is not None and content.strip():
            return start, content
        end = start
    return -1, None


def _braced(text: str, start: int) -> str | None:
    brace = text.find("{", start, start + 12)
    if brace < 0:
        word = text[start + 6 : start + 30].split(maxsplit=1)  # \boxed 5
        return word[0].strip("$.,*") if word and text[start : start + 7] == "\\boxed " else None
    closing = text.find("}", brace, brace + MAX_BRACES)
    if text.find("{", brace + 1, closing) < 0 <= closing:
        return text[brace + 1 : closing]
    depth = 0
    for match in _BRACE.finditer(text, brace, brace + MAX_BRACES):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return text[brace + 1 : match.start()]
    return None


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
