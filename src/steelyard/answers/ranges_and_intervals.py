"""Plain text that is not an expression: intervals and solutions ("(-oo, 2) U (3, oo)"), ranges (12-15), times (10:30).

`plain_interval` rewrites the symbols of an interval as LaTeX. `solution_at_end` finds such an answer at the end of a
response that marks none; the last number would be only a part of it. Ranges, times and dates look like a calculation
but are not. A range increases: 12-15 is not -3, while 15-12 is 3, as graders have it. A ratio is in lowest terms: 1:3
is 1/3, while 10:30 and 9:05 are times.
"""

from __future__ import annotations

import re
from math import gcd

_INFINITY = re.compile(r"(?<![A-Za-z\\])(?:oo|inf|[Ii]nfinity)(?![A-Za-z])")
_UNION = re.compile(r"(?<=[)\]])\s*+(?:U|u|union|or)\s*+(?=[(\[])")
_VALUE = r"[-+−]?(?:oo|∞|inf|infinity|\\infty|\d{1,15}(?:[./]\d{1,15})?|[a-z])"
_BRACKETED = rf"[(\[]\s?{_VALUE}(?:\s?,\s?{_VALUE}){{1,9}}\s?[)\]]"
_AT_END = re.compile(rf"(?<![\w\\]){_BRACKETED}(?:\s?(?:U|∪|union|\\cup)\s?{_BRACKETED}){{0,9}}[.*_`\s]{{0,4}}$")
_EQUAL = r"[A-Za-z]\s?=\s?[-+−]?(?:\d{1,15}(?:[./]\d{1,15})?|\\?sqrt[({]\d{1,9}[)}])"
_JOINED = r"\s?(?:,\s?(?:and|or)|,|and|or)\s"
_SOLUTIONS = re.compile(rf"(?<![\w=+*/^-]){_EQUAL}(?:{_JOINED}{_EQUAL}){{1,9}}[.*_`\s]{{0,4}}$")
END = 300  # characters at the end that are searched
_NUMBER = r"\d{1,15}(?:\.\d{1,15})?"
_RANGE = re.compile(rf"({_NUMBER})\s?(%?)\s?(?:-|to)\s?({_NUMBER})\s?(%?)")
_TIME = re.compile(r"(\d\d?):([0-5]\d)(?:\s?([ap])\.?m\.?)?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{4}/\d\d?/\d\d?|\d\d?/\d\d?/\d{4}")  # neither a difference nor a fraction


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


def range_or_time(text: str) -> str | None:
    """Return the canonical spelling of a range, a time or a date; None for any other text.

    >>> range_or_time("12 - 15"), range_or_time("12 to 15%"), range_or_time("15-12"), range_or_time("2024-01-15")
    ('12-15', '12-15%', None, '2024-01-15')
    >>> range_or_time("10:30"), range_or_time("09:05"), range_or_time("9:16 PM"), range_or_time("9:16")
    ('10:30', '9:05', '9:16 pm', None)
    """
    if _DATE.fullmatch(text):
        return text
    match = _RANGE.fullmatch(text)
    if match and float(match[1]) < float(match[3]):
        return f"{match[1]}-{match[3]}{match[2] or match[4]}"
    time = _TIME.fullmatch(text)
    if not time or int(time[1]) > 24:
        return None
    if time[3]:
        return f"{int(time[1])}:{time[2]} {time[3].lower()}m"
    return f"{int(time[1])}:{time[2]}" if time[2][0] == "0" or gcd(int(time[1]), int(time[2])) > 1 else None
