"""Intervals, tuples and solutions in plain text: "(-oo, 2) U (3, oo)", "x = 1 or x = 2".

`plain_interval` rewrites the symbols of an interval as LaTeX. `solution_at_end` finds such an answer at the end of a
response that marks none; the last number would be only a part of it.
"""

from __future__ import annotations

import re

_INFINITY = re.compile(r"(?<![A-Za-z\\])(?:oo|inf|[Ii]nfinity)(?![A-Za-z])")
_UNION = re.compile(r"(?<=[)\]])\s*+(?:U|u|union|or)\s*+(?=[(\[])")
_VALUE = r"[-+−]?(?:oo|∞|inf|infinity|\\infty|\d{1,15}(?:[./]\d{1,15})?|[a-z])"
_BRACKETED = rf"[(\[]\s?{_VALUE}(?:\s?,\s?{_VALUE}){{1,9}}\s?[)\]]"
_AT_END = re.compile(rf"(?<![\w\\]){_BRACKETED}(?:\s?(?:U|∪|union|\\cup)\s?{_BRACKETED}){{0,9}}[.*_`\s]{{0,4}}$")
_EQUAL = r"[A-Za-z]\s?=\s?[-+−]?(?:\d{1,15}(?:[./]\d{1,15})?|\\?sqrt[({]\d{1,9}[)}])"
_JOINED = r"\s?(?:,\s?(?:and|or)|,|and|or)\s"
_SOLUTIONS = re.compile(rf"(?<![\w=+*/^-]){_EQUAL}(?:{_JOINED}{_EQUAL}){{1,9}}[.*_`\s]{{0,4}}$")
END = 300  # characters at the end that are searched


def plain_interval(text: str) -> str:
    r"""Rewrite the symbols of an interval as LaTeX; any other text is returned unchanged.

    >>> plain_interval("(-oo, 2) U (3, oo)"), plain_interval("f(oo)")
    ('(-\\infty, 2)\\cup (3, \\infty)', 'f(oo)')
    """
    if text[:1] not in ("(", "[") or text[-1:] not in (")", "]"):
        return text
    return _UNION.sub(r"\\cup ", _INFINITY.sub(r"\\infty", text))


def solution_at_end(text: str) -> str | None:
    """Return the tuple, interval, union or solutions at the end of a response, or None.

    >>> solution_at_end("So x = 1 or x = 2."), solution_at_end("It is (-oo, 2) U (3, oo)."), solution_at_end("f(3)")
    ('x = 1 or x = 2', '(-oo, 2) U (3, oo)', None)
    """
    line = text[-END:].rstrip().rpartition("\n")[2]
    match = _SOLUTIONS.search(line) or _AT_END.search(line)
    return match[0].strip(" .*_`\t") if match else None
