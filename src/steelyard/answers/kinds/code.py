"""code: a Python literal, as a program returns it: `[1, 2]` is `[1,2]` and 'a' is "a". Nothing is ever executed.

Marked: a box, a JSON field, "the answer is ..". Loose: the right side of an assertion, a stated output, a value in the
last code block or between backticks, the value on the last line.
"""

from __future__ import annotations

import ast
import re
import warnings
from contextlib import suppress
from typing import Any

from steelyard.answers.boxes_and_fields import boxed, json_field
from steelyard.answers.kind import Kind, NamedRule
from steelyard.answers.statements import mentions

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
LONGEST = 4000  # characters of a literal
NO_VALUE = object()
_ATOM = re.compile(r"[-+]?(?:\d[\d_]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?|\.\d++)j?|True|False|None|true|false|null")
_QUOTED = re.compile(r"""[rbuRBU]{0,2}(?='|")""")
_JSON_NAMES = re.compile(r"\b(?:true|false|null)\b")
_NAMES = {"true": "True", "false": "False", "null": "None"}
_OPEN, _CLOSE = "([{", ")]}"


def code_form(answer: str) -> str:
    """Return the canonical spelling of a literal; any other text is returned with the prefix `text:`.

    >>> code_form("[1,  2]") == code_form("[1,2]"), code_form("'a'") == code_form('"a"'), code_form("x + 1")
    (True, True, 'text:x + 1')
    """
    value = value_of(answer)
    with suppress(RecursionError):
        if value is not NO_VALUE:
            return canonical(value)
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


def _after(pattern: re.Pattern[str], text: str) -> str | None:
    """The literal after the last match of a pattern that one follows."""
    end = text[-END:]
    sources = (_at(end, match.end()) for match in list(pattern.finditer(end))[-MAX_TRIED:][::-1])
    return next((source for source in sources if source is not None), None)


def _fenced(text: str) -> str | None:
    end = text.rfind("```")
    start = text.rfind("```", 0, max(end, 0))
    return literal(_LANGUAGE.sub("", text[start + 3 : end], count=1)) if start >= 0 else None


def _ticked(text: str) -> str | None:
    ticked: list[str] = _TICKED.findall(text[-END:])[-MAX_TRIED:][::-1]
    return next((inside for inside in ticked if value_of(inside) is not NO_VALUE), None)


def _last_line(text: str) -> str | None:
    stripped = text.strip()
    if value_of(stripped) is not NO_VALUE:
        return stripped
    line = stripped.splitlines()[-1] if stripped else ""
    return line.strip(_AROUND) if value_of(line.strip(_AROUND)) is not NO_VALUE else None


def value_of(text: str) -> Any:
    """Return the value of a literal, NO_VALUE for any other text.

    >>> value_of("[1,  'a']"), value_of("{'b': None}"), value_of("f(3)") is NO_VALUE, value_of("null")
    ([1, 'a'], {'b': None}, True, None)
    """
    bare = text.strip()
    if not bare or len(bare) > LONGEST:
        return NO_VALUE
    for source in (bare, _JSON_NAMES.sub(lambda match: _NAMES[match[0]], bare)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escapes are expected
                return ast.literal_eval(source)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return NO_VALUE


def canonical(value: Any) -> str:
    """Return the canonical spelling of a value: sorted keys and sets, 1.0 as 1; tuples differ from lists, True from 1.

    >>> canonical({"b": 1.0, "a": (True, [2])}), canonical({3, 1}), canonical("x'y")
    ("{'a':(True,[2]),'b':1}", '{1,3}', '"x\\'y"')
    """
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{canonical(key)}:{canonical(item)}" for key, item in value.items())) + "}"
    if isinstance(value, set):
        return "{" + ",".join(sorted(map(canonical, value))) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ",".join(map(canonical, value)) + ")"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def literal_at(text: str, start: int = 0) -> str | None:
    """Return the literal that starts at a position, up to its closing bracket or quote, or None.

    >>> literal_at("[1, ')'], because"), literal_at("'it\\\\'s' so"), literal_at("-3.5."), literal_at("nothing")
    ("[1, ')']", "'it\\\\'s'", '-3.5', None)
    """
    first = text[start : start + 1]
    quoted = _QUOTED.match(text, start)
    if first in _OPEN and first:
        end = _bracket_end(text, start)
    elif quoted:
        end = _quote_end(text, quoted.end())
    else:
        atom = _ATOM.match(text, start)
        end = atom.end() if atom else -1
        if atom and text[end - 1] == "." and (end >= len(text) or text[end].isspace()):
            end -= 1  # the full stop of the sentence
    return text[start:end] if end > start else None


def _bracket_end(text: str, start: int) -> int:
    depth, i, last = 0, start, min(len(text), start + LONGEST)
    while i < last:
        char = text[i]
        if char in "'\"":
            i = _quote_end(text, i)
            if i < 0:
                return -1
            continue
        depth += (char in _OPEN) - (char in _CLOSE)
        i += 1
        if depth == 0:
            return i
    return -1


def _quote_end(text: str, start: int) -> int:
    quote = text[start : start + 3] if text[start : start + 3] in ("'''", '"""') else text[start]
    i, last = start + len(quote), min(len(text), start + LONGEST)
    while i < last:
        if text[i] == "\\":
            i += 2
        elif text.startswith(quote, i):
            return i + len(quote)
        else:
            i += 1
    return -1


MARKED: tuple[NamedRule, ...] = (
    ("boxed", lambda text: literal(boxed(text))), ("json", lambda text: literal(json_field(text))), ("said", _stated),
)  # fmt: skip
LOOSE: tuple[NamedRule, ...] = (
    ("compared", lambda text: _after(_COMPARED, text)), ("output", lambda text: _after(_OUTPUT, text)),
    ("block", _fenced), ("ticks", _ticked), ("line", _last_line),
)  # fmt: skip
KIND = Kind("code", MARKED, LOOSE, literal, code_form)
