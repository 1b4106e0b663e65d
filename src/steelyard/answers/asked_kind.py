"""The kind of answer that a question asks for, told by its text alone: before any response is there to look at."""

from __future__ import annotations

import re

from steelyard.answers.auto_kind import DEFAULT
from steelyard.answers.extract import KINDS

LOOKED_AT = 20_000  # characters at the end of a question
_LINES = [re.compile(rf"(?m)^[ \t*]{{0,8}}[(\[]?{letter}[)\].:][ \t*]{{1,8}}\S") for letter in "AB"]
_INLINE = [re.compile(rf"(?<!\S)(?:\({letter}\)|{letter}\))[ \t]{{0,4}}\S") for letter in "AB"]
_YES_NO = re.compile(
    r"\b(?:answer|reply|respond)\b[^\n.?]{0,60}?\byes\b[^\n.?\w]{0,4}(?:or|/)[^\n.?\w]{0,4}no\b", re.IGNORECASE
)


def asked_kind(question: str) -> str:
    r"""`choice` where a question lists options A and B, `yes-no` where it asks for one of the two, else math.

    >>> asked_kind("Which is the capital?\nA) Paris\nB) Rome"), asked_kind("Is it (A) red or (B) blue?")
    ('choice', 'choice')
    >>> asked_kind("A. has 3 apples. B has 4. How many have they?")
    'math'
    """
    text = question[-LOOKED_AT:]
    if any(_listed(text, *options) for options in (_LINES, _INLINE)):
        return "choice"
    return "yes-no" if "yes-no" in KINDS and _YES_NO.search(text) else DEFAULT


def _listed(text: str, first: re.Pattern[str], second: re.Pattern[str]) -> bool:
    found = first.search(text)
    return found is not None and second.search(text, found.end()) is not None
