"""The fingerprint of a form: what its entries are worth at two points. Forms whose fingerprints differ are different.

The letters of a form stand for any numbers, so two equal forms are equal at every point; a difference at one of them,
beyond all error, settles that two forms are different without any algebra. Fingerprints never say that two forms are
equal: that is the equivalence checker's to decide.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from steelyard.answers.expression_values import GREEK_COMMANDS, Evaluation
from steelyard.answers.polynomials import TooHard
from steelyard.answers.rough_numbers import Rough
from steelyard.answers.statement_kinds import Statement, statement
from steelyard.answers.step_budget import OutOfBudget, budget_for, spend

POINTS = (1, 2)
APART = 1e-5  # relative, and absolute below 1: math-verify takes decimals for equal that agree in six places
SURE = 1e-10  # the error within which a number is known
MOST_ENTRIES = 20
DEEPEST = 4  # lists within lists
ENDLESS = {"\\infty": 1e300, "+\\infty": 1e300, "-\\infty": -1e300}
_OPEN, _CLOSE = "([{", ")]}"
_NAMED = re.compile(r"(?:[A-DF-HJ-Za-df-hj-z](?:_\w)?|\\(?:theta|alpha|beta))\s*+\\approx(?![A-Za-z])")  # x is nearly
_THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")
_UNIT = re.compile(  # math-verify drops what it takes for one
    r"[\d}\s](?:[cdghlmost]|ab|am|are|bc|by|cc|cm|day|deg|dm|ft|gal|gm|hr|kg|km|kmh|lb|lt|man|men|min|mm|mp|mph|mt|mtr|ohm"
    r"|per|pie|pm|rd|rs|sec|sq|st|sue|th|toy|way|yr)(?:s|es)?$"
)

Values = tuple[Rough, ...]  # at every point


class Fingerprint(NamedTuple):
    """What a form says, the values of every entry (of an equation: of its right side), and the number that it is."""

    says: Statement
    entries: tuple[Values, ...] = ()
    number: float | None = None
    brackets: str = ""  # around a list of numbers


@lru_cache(maxsize=20_000)
def fingerprint(form: str) -> Fingerprint | None:
    """Return the fingerprint of a form, None if it is nothing that can be evaluated.

    >>> round(fingerprint("\\\\sqrt[3]{8}").number, 9)
    2.0
    >>> differ(fingerprint("\\\\frac{1}{x+1}"), fingerprint("\\\\frac{1}{x+2}"))
    True
    """
    says = statement(form)
    if says in (Statement.NOTHING, Statement.INEQUALITY):
        return Fingerprint(says)
    if says is Statement.UNCLEAR or _THOUSANDS.search(form) or _UNIT.search(form):
        return None
    named = _NAMED.match(form)
    said = form[named.end() :] if named else form
    left, nearly, right = said.translate(GREEK_COMMANDS).partition("=" if says is Statement.EQUATION else "\\approx")
    try:
        with budget_for(form):
            found = _fingerprint((right if says is Statement.EQUATION else left).strip(), says)
    except (TooHard, OutOfBudget, ValueError, ArithmeticError):
        return None
    return None if (named or nearly == "\\approx") and found.number is None else found


def differ(a: Fingerprint | None, b: Fingerprint | None) -> bool:
    """Whether two fingerprints prove their forms different: an entry of one is no entry of the other."""
    if a is None or b is None:
        return False
    if Statement.NOTHING in (a.says, b.says):
        return True
    if Statement.INEQUALITY in (a.says, b.says):
        return Statement.VALUE in (a.says, b.says)
    if a.says is b.says is Statement.EQUATION:
        return False
    if a.brackets and b.brackets and a.brackets != b.brackets:
        return True
    return _has_another(a, b) or _has_another(b, a)


def moves(a: Fingerprint | None) -> bool:
    """Whether an entry is worth another number at another point: the form depends on its letters."""
    return a is not None and any(_apart(entry[:1], entry[1:]) for entry in a.entries)


def _has_another(a: Fingerprint, b: Fingerprint) -> bool:
    return any(all(_apart(mine, theirs) for theirs in b.entries) for mine in a.entries)


def _apart(a: Values, b: Values) -> bool:
    return any(
        abs(x.value - y.value) > APART * max(1.0, abs(x.value), abs(y.value)) + 10 * (x.error + y.error)
        for x, y in zip(a, b, strict=True)
    )


def _fingerprint(text: str, says: Statement) -> Fingerprint:
    parts = _parts(text, 0)
    if len(parts) > MOST_ENTRIES:
        raise TooHard
    entries: list[Values] = []
    number = None
    letters = False
    for part in parts:
        if part in ENDLESS:
            entries.append((Rough(complex(ENDLESS[part])),) * len(POINTS))
            continue
        read = [Evaluation(part, point) for point in POINTS]
        values = tuple(each.value() for each in read)
        entries.append(values)
        letters |= read[0].letters
        if len(parts) == 1 and not letters and says is Statement.VALUE:
            number = _number(values[0])
    return Fingerprint(says, tuple(entries), number, _brackets(text) if len(parts) > 1 and not letters else "")


def _brackets(text: str) -> str:
    """The brackets around a list; a bare one is a set."""
    return text[0] + text[-1] if text[0] in _OPEN and text[-1] in _CLOSE and _cut(text[1:-1]) else "{}"


def _number(value: Rough) -> float | None:
    """The real number that a value is, None for another one; one that is not sure is too hard."""
    size = max(1.0, abs(value.value))
    if value.error > SURE * size or 0 < abs(value.value.imag) <= 10 * SURE * size:
        raise TooHard
    return None if value.value.imag else value.value.real


def _parts(text: str, depth: int) -> list[str]:
    """The entries of a tuple, an interval or a set, and those of entries that are lists themselves."""
    if depth > DEEPEST or not text:
        raise TooHard
    if text[0] in _OPEN and text[-1] in _CLOSE:
        inner = _cut(text[1:-1])
        if inner and len(inner) > 1:
            return [entry for part in inner for entry in _parts(part, depth + 1)]
    parts = _cut(text)
    if not parts:
        raise TooHard
    return [entry for part in parts for entry in _parts(part, depth + 1)] if len(parts) > 1 else parts


def _cut(text: str) -> list[str] | None:
    """Cut at commas outside all brackets; None if the brackets do not match."""
    spend(1 + len(text) // 2)
    depth, start, parts = 0, 0, []
    for i, char in enumerate(text):
        depth += (char in _OPEN) - (char in _CLOSE)
        if depth < 0:
            return None
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()] if depth == 0 else None
