"""code: a literal value, as a program returns it: `[1, 2]` is `[1,2]` and 'a' is "a". Nothing is ever executed.

Marked: what is said of the answer or the output, a box, a JSON field. Loose: what an assertion compares with, a value
in the last code block or between backticks, the value of the last line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.answers.boxes import boxed
from steelyard.answers.json_fields import json_field
from steelyard.answers.kind import Kind, Named
from steelyard.answers.literals import NO_VALUE, canonical, literal_at, value_of
from steelyard.answers.sayings import sayings

END = 4000  # characters at the end in which a value is looked for
MOST_TRIED = 20  # places looked at, from the end
_LANGUAGE = re.compile(r"[A-Za-z+]{0,12}[ \t]*+\n")
_TICKED = re.compile(r"`([^`\n]{1,400})`")
_OUTPUT = re.compile(
    r"(?i:\b(?:output|outputs|result|return(?:ed)?\s(?:value|result)|returns?|evaluates?\sto|prints?|value))"
    r"(?i:(?:\s(?:of|for|from)\s[^\n]{1,120}?)?\s(?:is|will\sbe|would\sbe|should\sbe|becomes|equals)(?:\s(?:therefore|thus|simply))?)?[:\s*]*+`{0,3}"
)
_COMPARED = re.compile(r"==\s*+")
_AROUND = "`*_ \t\n"


def code_form(answer: str) -> str:
    """The canonical spelling of a literal value; a text that is none stays as it is.

    >>> code_form("[1,  2]") == code_form("[1,2]"), code_form("'a'") == code_form('"a"'), code_form("x + 1")
    (True, True, 'text:x + 1')
    """
    value = value_of(answer)
    try:
        return canonical(value) if value is not NO_VALUE else "text:" + answer.strip().removeprefix("text:")
    except RecursionError:
        return "text:" + answer.strip().removeprefix("text:")


def literal(text: str | None) -> str | None:
    """A text that is a literal, what an assertion in it compares with, or a literal it begins with."""
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
    found = literal_at(text, start)
    return found if found is not None and value_of(found) is not NO_VALUE else None


def _said(text: str) -> str | None:
    return next((found for said in sayings(text) if (found := literal(said.text))), None)


def _output(text: str) -> str | None:
    return _last(text[-END:], ((found.end()) for found in _OUTPUT.finditer(text[-END:])))


def _compared(text: str) -> str | None:
    return _last(text[-END:], ((found.end()) for found in _COMPARED.finditer(text[-END:])))


def _last(text: str, places: Iterator[int]) -> str | None:
    for start in list(places)[-MOST_TRIED:][::-1]:
        found = _at(text, start)
        if found is not None:
            return found
    return None


def _fenced(text: str) -> str | None:
    end = text.rfind("```")
    start = text.rfind("```", 0, max(end, 0))
    return literal(_LANGUAGE.sub("", text[start + 3 : end], count=1)) if start >= 0 else None


def _ticked(text: str) -> str | None:
    for inside in _TICKED.findall(text[-END:])[-MOST_TRIED:][::-1]:
        if value_of(inside) is not NO_VALUE:
            return str(inside)
    return None


def _last_line(text: str) -> str | None:
    whole = text.strip()
    if value_of(whole) is not NO_VALUE:
        return whole
    line = whole.splitlines()[-1] if whole else ""
    return line.strip(_AROUND) if value_of(line.strip(_AROUND)) is not NO_VALUE else None


MARKED: tuple[Named, ...] = (
    ("boxed", lambda text: literal(boxed(text))), ("json", lambda text: literal(json_field(text))), ("said", _said),
)  # fmt: skip
LOOSE: tuple[Named, ...] = (
    ("compared", _compared), ("output", _output), ("block", _fenced), ("ticks", _ticked), ("line", _last_line),
)  # fmt: skip
KIND = Kind("code", MARKED, LOOSE, literal, code_form)
