"""Guess the kind of answer from the text of the question alone, before there are any responses."""

from __future__ import annotations

import re

from steelyard.answers.auto_kind import DEFAULT
from steelyard.answers.extract import KINDS

TAIL = 20_000  # characters at the end of a question that are searched
_LINES = [re.compile(rf"(?m)^[ \t*]{{0,8}}[(\[]?{letter}[)\].:][ \t*]{{1,8}}\S") for letter in "AB"]
_INLINE = [re.compile(rf"(?<!\S)(?:\({letter}\)|{letter}\))[ \t]{{0,4}}\S") for letter in "AB"]
_YES_NO = re.compile(
    r"\b(?:answer|reply|respond)\b[^\n.?]{0,60}?\byes\b[^\n.?\w]{0,4}(?:or|/)[^\n.?\w]{0,4}no\b", re.IGNORECASE
)


def kind_from_question(question: str) -> str:
    r"""Return `choice` if the question lists options A and B, `yes-no` if it asks for yes or no, else `math`.

    >>> kind_from_question("Which is the capital?\nA) Paris\nB) Rome"), kind_from_question("Is it (A) red or (B) blue?")
    ('choice', 'choice')
    >>> kind_from_question("A. has 3 apples. B has 4. How many have they?")
    'math'
    """
    text = question[-TAIL:]
    if any(_listed(text, *options) for options in (_LINES, _INLINE)):
        return "choice"
    return "yes-no" if "yes-no" in KINDS and _YES_NO.search(text) else DEFAULT


def _listed(text: str, first: re.Pattern[str], second: re.Pattern[str]) -> bool:
    match = first.search(text)
    return match is not None and second.search(text, match.end()) is not None
