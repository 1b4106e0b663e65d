"""Python literals in running text: located by brackets and quotes, parsed by ast.literal_eval, never executed."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

LONGEST = 4000  # characters of a literal
NO_VALUE = object()
_ATOM = re.compile(r"[-+]?(?:\d[\d_]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?|\.\d++)j?|True|False|None|true|false|null")
_QUOTED = re.compile(r"""[rbuRBU]{0,2}(?='|")""")
_JSON_NAMES = re.compile(r"\b(?:true|false|null)\b")
_NAMES = {"true": "True", "false": "False", "null": "None"}
_OPEN, _CLOSE = "([{", ")]}"


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
