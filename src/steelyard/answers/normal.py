"""The normal form of an answer: answers with equal normal forms are the same answer.

Computed in process, within a step budget that grows with the length of the text (step_budget.py). Numbers, fractions,
powers and roots are exact rationals and polynomials of bounded size; tuples, sets, intervals and matrices are
normalised entry by entry; words are case-folded. The form of a text that cannot be parsed is the cleaned text, and an
answer that exceeds its budget is its own class.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import pi, prod

from steelyard.answers.cleaning import LONGEST, ROW, plain
from steelyard.answers.expressions import expression
from steelyard.answers.numbers import plain_number
from steelyard.answers.polynomials import TooHard
from steelyard.answers.ranges_and_intervals import plain_interval, range_or_time
from steelyard.answers.step_budget import OutOfBudget, budget_for, memoized, spend
from steelyard.answers.values import value_form

PASSES = 6
VERBATIM = "text:"  # prefix of an answer that PASSES passes do not settle, of a range, a time and a date
COSTLY = "costly:"  # prefix of an answer that exceeds its step budget
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_BASE = re.compile(r"([_^])\s*+\{\s*+(\w++)\s*+\}")
_GAP = re.compile(r"(?<![A-Za-z0-9]) | (?![A-Za-z0-9])")  # white space that does not separate words
_PREFIX = re.compile(
    r"(?:[A-Za-z](?:_\{?\w{1,8}\}?)?|[A-Za-z]\([A-Za-z]\)|\\theta|\\alpha)\s*+(?:=|\\in(?![A-Za-z])|:)\s*+(?=\S)"
)
_DEGREES = re.compile(r"\^?\s*+\{?\s*+\\circ\s*+\}?|\s*+degrees?$", re.IGNORECASE)
_UNIT = re.compile(
    r"(?<=[\d)}%])(?:\s++[A-Za-z]{2,}+|\s*+[A-Za-z]{4,}+)(?:\s++[A-Za-z]++)*+(?:\s*+\^\s*+\{?[23]\}?)?\.?$"
)
_NO_UNIT = re.compile(
    r"\b(?:or|and|to|than|less|more|not|no|if|am|pm|mod|times|plus|minus"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)\b|^\s*(?:or|and)(?:less|more|fewer)",
    re.IGNORECASE,
)
_TEXT = re.compile(r"\\text\s*+\{([^{}]*+)\}(?:\s*+\^\s*+\{?[23]\}?)?")
_SUBSCRIPT = re.compile(r"(-?\d++)\s*+_\s*+\{?\s*+\w{1,2}\s*+\}?")  # the base of a number, which the question names
_JOIN = re.compile(r"\\text\s?\{\s*+(and|or)\s*+\}")


def normal_form(answer: str) -> str:
    """Return the normal form; the empty string if there is nothing to read.

    >>> [normal_form(text) for text in ("0.5", r"\\frac12", "1/2", r"$\\dfrac{1}{2}$.", "50%", "x = 1/2")]
    ['1/2', '1/2', '1/2', '1/2', '1/2', '1/2']
    >>> normal_form("(3, 4]"), normal_form(r"\\{2, 1\\}"), normal_form(r"\\text{East}")
    ('(3,4]', '{1,2}', 'east')
    """
    if len(answer) > LONGEST or answer.startswith((VERBATIM, COSTLY)):
        return answer.strip()
    text = answer
    try:
        with budget_for(answer):
            for _ in range(PASSES):  # a pass may uncover what the next one can parse
                if _INTEGER.fullmatch(text):
                    return text
                again = _pass(text)
                if again == text or again.startswith(VERBATIM):
                    return again
                text = again
    except OutOfBudget:
        return COSTLY + answer.strip()
    return VERBATIM + answer.strip()


@memoized
def _pass(text: str) -> str:
    spend(1 + len(text) // 4)
    bare = plain_number(unwrapped(plain_interval(plain(text))))
    special = None if "=" in text else range_or_time(bare)
    return VERBATIM + special if special else value_form(bare) or _words(bare)


@lru_cache(maxsize=50_000)
def was_read(form: str) -> bool:
    """Whether a normal form was parsed as a value and not left as text."""
    if _INTEGER.fullmatch(form):
        return True
    try:
        with budget_for(form):
            return len(form) <= LONGEST and value_form(form) == form
    except OutOfBudget:
        return False


def number_of(form: str) -> float | str:
    """Return the number that a parsed form stands for, "symbolic" if it has letters or is a list."""
    try:
        with budget_for(form):
            value = expression(form)
        return sum(float(c) * prod(_size(atom) ** k for atom, k in m) for m, c in value.items()) if value else 0.0
    except (OutOfBudget, TooHard, ValueError, OverflowError):
        return "symbolic"


def _size(atom: str) -> float:
    if atom.isdigit():
        return float(int(atom) ** 0.5)
    if atom == "pi":
        return pi
    raise TooHard


def _words(text: str) -> str:
    """Case-fold plain words; strip white space and redundant braces from anything else."""
    letters = sum(char.isalpha() or char in " '-.," for char in text)
    if "\\" not in text and letters == len(text):
        return " ".join(text.casefold().split())
    return _GAP.sub("", " ".join(_BASE.sub(r"\1\2", text.replace(ROW, "\\\\")).split()))


def unwrapped(text: str) -> str:
    """Strip boxes, `x =`, text around numbers, units and degree signs."""
    if text.startswith("\\boxed{") and text.endswith("}"):
        text = text[7:-1].strip()
    if "\\text" in text:
        text = _JOIN.sub(r" \1 ", text)
        bare = _TEXT.sub(" ", text).strip()
        text = bare if any(c.isdigit() for c in bare) else _TEXT.sub(r"\1", text).strip()
    prefix = _PREFIX.match(text)
    if prefix and "=" not in text[prefix.end() :]:
        text = text[prefix.end() :]
    if "circ" in text or "egree" in text:
        text = _DEGREES.sub("", text).strip()
    base = _SUBSCRIPT.fullmatch(text)
    text = (base[1] if base else text).strip("£€¥ ")
    unit = _UNIT.search(text)
    if unit and not _NO_UNIT.search(unit[0]) and value_form(text[: unit.start()].strip()) is not None:
        return text[: unit.start()].strip()
    return text
