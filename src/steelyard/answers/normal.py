"""The normal form of an answer: two answers with one normal form are the same answer.

Own code, in process, within a budget of steps that grows with the length of the text (step_budget.py), nothing
evaluated that could grow: numbers, fractions, powers and roots are exact rationals and polynomials of bounded size;
tuples, sets, intervals and matrices are normalised entry by entry; words are folded. What cannot be read is its own
cleaned text, and what runs out of its budget is a class of its own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import pi, prod

from steelyard.answers.cleaning import LONGEST, ROW, plain
from steelyard.answers.expressions import expression
from steelyard.answers.number_spellings import plain_number
from steelyard.answers.plain_intervals import plain_interval
from steelyard.answers.polynomials import TooHard
from steelyard.answers.ranges_and_times import range_or_time
from steelyard.answers.step_budget import OutOfBudget, budget_for, remembered, spend
from steelyard.answers.unwrapping import unwrapped
from steelyard.answers.values import value_form

PASSES = 6
VERBATIM = "text:"  # before an answer that no number of passes settles, and before a range, a time and a date
COSTLY = "costly:"  # before an answer that cost more steps than its length allows
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,15}")
_BASE = re.compile(r"([_^])\s*+\{\s*+(\w++)\s*+\}")
_GAP = re.compile(r"(?<![A-Za-z0-9]) | (?![A-Za-z0-9])")  # white space that parts no words


def normal_form(answer: str) -> str:
    """Return the normal form; the empty string if nothing can be read.

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
            for _ in range(PASSES):  # what one pass uncovers the next may read
                if _WHOLE.fullmatch(text):
                    return text
                again = _pass(text)
                if again == text or again.startswith(VERBATIM):
                    return again
                text = again
    except OutOfBudget:
        return COSTLY + answer.strip()
    return VERBATIM + answer.strip()


def too_costly(form: str) -> bool:
    """Whether a normal form is that of an answer which ran out of its budget."""
    return form.startswith(COSTLY)


@remembered
def _pass(text: str) -> str:
    spend(1 + len(text) // 4)
    bare = plain_number(unwrapped(plain_interval(plain(text))))
    said = None if "=" in text else range_or_time(bare)
    return VERBATIM + said if said else value_form(bare) or _words(bare)


@lru_cache(maxsize=50_000)
def was_read(form: str) -> bool:
    """Whether a normal form was understood as a value, not kept as text."""
    if _WHOLE.fullmatch(form):
        return True
    try:
        with budget_for(form):
            return len(form) <= LONGEST and value_form(form) == form
    except OutOfBudget:
        return False


def number_of(form: str) -> float | str:
    """The number a form that was read stands for, "symbolic" if it has letters or is a list."""
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
    """Plain words in one case, anything else with white space and needless braces gone."""
    letters = sum(char.isalpha() or char in " '-.," for char in text)
    if "\\" not in text and letters == len(text):
        return " ".join(text.casefold().split())
    return _GAP.sub("", " ".join(_BASE.sub(r"\1\2", text.replace(ROW, "\\\\")).split()))
