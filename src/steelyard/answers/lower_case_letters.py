"""Capitalize lower-case letters that name an option: "option d is correct", "I choose (b)", "go with c.".

A lower-case letter names an option after a word such as "option", in brackets, or at the end of a phrase that makes a
choice. Anywhere else it may be an article, a variable or a unit, and is left alone.
"""

from __future__ import annotations

import re

_MARKS = r"[(\[\"'`*_]{0,4}"
_ENDS = r"(?=[)\]\"'`*_]{0,4}(?:[.,;:!?)]|\s*+$|\s*+\n))"
_NOUN = r"(?:option|choice|letter|alternative|statement)s?"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?i:{_NOUN})\s{{1,3}}{_MARKS}(?P<letter>[b-hj])(?![\w'’=-])",
        rf"\b(?i:{_NOUN})\s{{1,3}}{_MARKS}(?P<letter>a)(?:{_ENDS}|(?=\s(?:is|was|seems|appears|must|would|because|since)\b))",
        r"(?<![\w)])\((?P<letter>[a-hj])\)(?![\w(])",
        rf"(?i:\b(?:choose|chose|select(?:ed)?|pick(?:ed)?|go(?:ing)?\swith|opt\sfor|answer\swith|it\sis|it's|it\smust\sbe"
        rf"|(?:therefore|thus|hence|so),?))\s{_MARKS}(?P<letter>[a-hj]){_ENDS}",
        rf"(?i:\b(?:correct|right|best|final|my|only|closest)\s(?:{_NOUN}|one|selection)\s?(?:is|would\sbe|must\sbe|:)):?\s{{0,3}}"
        rf"{_MARKS}(?P<letter>[a-hj]){_ENDS}",
    )
)
_LONE = re.compile(r"(?<![A-Za-z])[a-hj](?![A-Za-z])")


def with_capitals(text: str) -> str:
    """Return the text, of the same length, with every letter that names an option capitalized.

    >>> with_capitals("Option d is correct"), with_capitals("I choose (a)"), with_capitals("a bee has a choice")
    ('Option D is correct', 'I choose (A)', 'a bee has a choice')
    """
    if not _LONE.search(text):
        return text
    positions = {match.start("letter") for pattern in _PATTERNS for match in pattern.finditer(text)}
    if not positions:
        return text
    letters = list(text)
    for position in positions:
        letters[position] = letters[position].upper()
    return "".join(letters)
