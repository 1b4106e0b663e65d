"""code: a Python literal, as a program returns it: `[1, 2]` is `[1,2]` and 'a' is "a". Nothing is ever executed.

Marked: a box, a JSON field, "the answer is ..". Loose: the right side of an assertion, a stated output, a value in the
last code block or between backticks, the value on the last line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.answers.boxes import boxed
from steelyard.answers.json_fields import json_field
from steelyard.answers.kind import Kind, NamedRule
from steelyard.answers.literals import NO_VALUE, canonical, literal_at, value_of
from steelyard.answers.mentions import mentions

END = 4000  # characters at the end that are searched for a value
MAX_TRIED = 20  # positions tried, from the end
_LANGUAGE = re.compile(r"[A-Za-z+]{0,12}[ \t]*+\n")
_TICKED = re.compile(r"`([^`\n]{1,400})`")
_OUTPUT = re.compile(
    r"(?i:\b(?:output|outputs|result|return(?:ed)?\s(?:value|result)|returns?|evaluates?\sto|prints?|value))"
    r"(?i:(?:\s(?:of|for|from)\s[^\n]{1,120}?)?\s(?:is|will\sbe|would\sbe|should\sbe|becomes|equals)(?:\s(?:therefore|thus|simply))?)?[:\s*]*+`{0,3}"
)
_COMPARED = re.compile(r"==\s*+")
_AROUND = "`*_ \t\n"


def code_form(answer: str) -> str:
    """Return the canonical spelling of a literal; any other text is returned with the prefix `text:`.

    >>> code_form("[1,  2]") == code_form("[1,2]"), code_form("'a'") == code_form('"a"'), code_form("x + 1")
    (True, True, 'text:x + 1')
    """
    value = value_of(answer)
    try:
        return canonical(value) if value is not NO_VALUE else "text:" + answer.strip().removeprefix("text:")
    except RecursionError:
        return "text:" + answer.strip().removeprefix("text:")


def literal(text: str | None) -> str | None:
    """Return the literal that a text is, that an assertion in it compares with, or that it begins with."""
    if text is None:
        return None
    bare = text.strip(_AROUND)
    if value_of(bare) is not NO_VALUE:
        return bare
    compared = list(_COMPARED.finditer(bare[-END:]))
    if compared:
        return _at(bare[-END:], compared[-1].end())
    return _at(bare, 0)


def _at(text: str, start: int) -> str | None:
    source = literal_at(text, start)
    return source if source is not None and value_of(source) is not NO_VALUE else None


def _stated(text: str) -> str | None:
    return next((value for mention in mentions(text) if (value := literal(mention.text))), None)


def _output(text: str) -> str | None:
    return _last(text[-END:], (match.end() for match in _OUTPUT.finditer(text[-END:])))


def _compared(text: str) -> str | None:
    return _last(text[-END:], (match.end() for match in _COMPARED.finditer(text[-END:])))


def _last(text: str, starts: Iterator[int]) -> str | None:
    for start in list(starts)[-MAX_TRIED:][::-1]:
        source = _at(text, start)
        if source is not None:
            return source
    return None


def _fenced(text: str) -> str | None:
    end = text.rfind("```")
    start = text.rfind("```", 0, max(end, 0))
    return literal(_LANGUAGE.sub("", text[start + 3 : end], count=1)) if start >= 0 else None


def _ticked(text: str) -> str | None:
    for inside in _TICKED.findall(text[-END:])[-MAX_TRIED:][::-1]:
        if value_of(inside) is not NO_VALUE:
            return str(inside)
    return None


def _last_line(text: str) -> str | None:
    stripped = text.strip()
    if value_of(stripped) is not NO_VALUE:
        return stripped
    line = stripped.splitlines()[-1] if stripped else ""
    return line.strip(_AROUND) if value_of(line.strip(_AROUND)) is not NO_VALUE else None


MARKED: tuple[NamedRule, ...] = (
    ("boxed", lambda text: literal(boxed(text))), ("json", lambda text: literal(json_field(text))), ("said", _stated),
)  # fmt: skip
LOOSE: tuple[NamedRule, ...] = (
    ("compared", _compared), ("output", _output), ("block", _fenced), ("ticks", _ticked), ("line", _last_line),
)  # fmt: skip
KIND = Kind("code", MARKED, LOOSE, literal, code_form)
