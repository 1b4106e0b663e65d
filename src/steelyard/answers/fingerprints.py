"""The fingerprint of a form: the values of its entries at two points. Different fingerprints mean different answers.

Letters stand for arbitrary numbers, so equal forms have equal values at every point. A difference at one point that
exceeds the error bounds proves two forms different without any algebra. Equal fingerprints prove nothing: the
equivalence checker decides.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from steelyard.answers.expression_values import FUNCTIONS, GREEK_COMMANDS, NAMES, Evaluation
from steelyard.answers.polynomials import TooHard
from steelyard.answers.rough_numbers import Rough
from steelyard.answers.step_budget import OutOfBudget, budget_for, spend

POINTS = (1, 2)
TOLERANCE = 1e-5  # relative, and absolute below 1: math-verify treats decimals that agree to six places as equal
MAX_ERROR = 1e-10  # largest relative error of a value that counts as a number
MAX_ENTRIES = 20
DEEPEST = 4  # lists within lists
ENDLESS = {"\\infty": 1e300, "+\\infty": 1e300, "-\\infty": -1e300}
_OPEN, _CLOSE = "([{", ")]}"
_NAMED = re.compile(r"(?:[A-DF-HJ-Za-df-hj-z](?:_\w)?|\\(?:theta|alpha|beta))\s*+\\approx(?![A-Za-z])")  # x \approx ..
_THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")
_UNIT = re.compile(  # math-verify drops what looks like a unit
    r"[\d}\s](?:[cdghlmost]|ab|am|are|bc|by|cc|cm|day|deg|dm|ft|gal|gm|hr|kg|km|kmh|lb|lt|man|men|min|mm|mp|mph|mt|mtr|ohm"
    r"|per|pie|pm|rd|rs|sec|sq|st|sue|th|toy|way|yr)(?:s|es)?$"
)
Values = tuple[Rough, ...]  # at every point
_INEQUALITY = re.compile(r"[<>]|\\(?:le|ge|ne|lt|gt)(?![A-Za-z])")
_SEVERAL = re.compile(r"\\(?:cup|cap|pm|mp|setminus)(?![A-Za-z])")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_LETTER = re.compile(r"[^\W\d_ei]", re.IGNORECASE)  # except e and i, which may be constants
_CONSTANT = re.compile(r"[ei]", re.IGNORECASE)
_FIXED = {*FUNCTIONS, "\\log", "\\frac", "\\sqrt", "\\binom", "\\pi", "\\infty"}  # commands that are not letters
_CUT_OFF = re.compile(r"(?:[-+*/^_]|\\(?:frac|sqrt|sin|cos|tan|log|ln)|\^\{\})$")
_CALL = re.compile(r"(?<!sqr)[A-Za-z]\(")  # f(3) has no letters for math-verify


class Fingerprint(NamedTuple):
    """The kind of a form, the values of its entries (for an equation: of its right side), and its number, if any."""

    says: Statement
    entries: tuple[Values, ...] = ()
    number: float | None = None
    brackets: str = ""  # around a list of numbers


@lru_cache(maxsize=20_000)
def fingerprint(form: str) -> Fingerprint | None:
    """Return the fingerprint of a form, or None if it cannot be evaluated.

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
    body = form[named.end() :] if named else form
    left, nearly, right = body.translate(GREEK_COMMANDS).partition("=" if says is Statement.EQUATION else "\\approx")
    try:
        with budget_for(form):
            result = _fingerprint((right if says is Statement.EQUATION else left).strip(), says)
    except (TooHard, OutOfBudget, ValueError, ArithmeticError):
        return None
    return None if (named or nearly == "\\approx") and result.number is None else result


def differ(a: Fingerprint | None, b: Fingerprint | None) -> bool:
    """Whether two fingerprints prove their forms different: one has an entry that the other lacks."""
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


def depends_on_letters(a: Fingerprint | None) -> bool:
    """Whether the value of an entry changes between points: the form depends on its letters."""
    return a is not None and any(_distinct(entry[:1], entry[1:]) for entry in a.entries)


def _has_another(a: Fingerprint, b: Fingerprint) -> bool:
    return any(all(_distinct(entry, other) for other in b.entries) for entry in a.entries)


def _distinct(a: Values, b: Values) -> bool:
    return any(
        abs(x.value - y.value) > TOLERANCE * max(1.0, abs(x.value), abs(y.value)) + 10 * (x.error + y.error)
        for x, y in zip(a, b, strict=True)
    )


def _fingerprint(text: str, says: Statement) -> Fingerprint:
    parts = _parts(text, 0)
    if len(parts) > MAX_ENTRIES:
        raise TooHard
    entries: list[Values] = []
    number = None
    letters = False
    for part in parts:
        if part in ENDLESS:
            entries.append((Rough(complex(ENDLESS[part])),) * len(POINTS))
            continue
        evaluations = [Evaluation(part, point) for point in POINTS]
        values = tuple(evaluation.value() for evaluation in evaluations)
        entries.append(values)
        letters |= evaluations[0].letters
        if len(parts) == 1 and not letters and says is Statement.VALUE:
            number = _number(values[0])
    return Fingerprint(says, tuple(entries), number, _brackets(text) if len(parts) > 1 and not letters else "")


def _brackets(text: str) -> str:
    """The brackets around a list; a list without brackets is a set."""
    return text[0] + text[-1] if text[0] in _OPEN and text[-1] in _CLOSE and _split(text[1:-1]) else "{}"


def _number(value: Rough) -> float | None:
    """The value as a real number, None if it is complex; an imprecise value is too hard."""
    size = max(1.0, abs(value.value))
    if value.error > MAX_ERROR * size or 0 < abs(value.value.imag) <= 10 * MAX_ERROR * size:
        raise TooHard
    return None if value.value.imag else value.value.real


def _parts(text: str, depth: int) -> list[str]:
    """The entries of a tuple, an interval or a set, with nested lists flattened."""
    if depth > DEEPEST or not text:
        raise TooHard
    if text[0] in _OPEN and text[-1] in _CLOSE:
        inner = _split(text[1:-1])
        if inner and len(inner) > 1:
            return [entry for part in inner for entry in _parts(part, depth + 1)]
    parts = _split(text)
    if not parts:
        raise TooHard
    return [entry for part in parts for entry in _parts(part, depth + 1)] if len(parts) > 1 else parts


def _split(text: str) -> list[str] | None:
    """Split at commas outside all brackets; None if the brackets do not match."""
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


class Statement(Enum):
    """The kind of statement that a form makes."""

    VALUE = "value"
    EQUATION = "equation"
    INEQUALITY = "inequality"
    NOTHING = "nothing"
    UNCLEAR = "unclear"


def statement(form: str) -> Statement:
    r"""Classify a form by its symbols: a value, an equation, an inequality, or nothing to compare.

    math-verify compares an equation with a value by the right side only, never equates an inequality with a value, and
    has no value for a statement about numbers (`3 = 2 + 1`), a union or a `\pm` of numbers, unbalanced brackets, or a
    form that lacks its last operand: each of those is its own class.

    >>> [statement(form).value for form in ("x+1", "x+y=3", "x<3", "1=1", "f(1)=2", "2(x+", "[0,x)")]
    ['value', 'equation', 'inequality', 'nothing', 'unclear', 'nothing', 'value']
    """
    if _unmatched(form) or _CUT_OFF.search(form):
        return Statement.NOTHING
    compared, sides, several = _INEQUALITY.search(form), form.count("=") + 1, _SEVERAL.search(form)
    if not compared and sides == 1 and not several:
        return Statement.VALUE
    if not _has_letters(form):
        unclear = sides > 2 or _CONSTANT.search(_COMMAND.sub("", form))
        return Statement.UNCLEAR if unclear else Statement.NOTHING
    if _CALL.search(form) or several:
        return Statement.UNCLEAR
    if compared:
        return Statement.INEQUALITY
    return Statement.EQUATION if sides == 2 and "," not in form else Statement.UNCLEAR


@lru_cache(maxsize=20_000)
def letters_of(form: str) -> frozenset[str]:
    r"""Return all letters that a form may depend on, including those of commands without a fixed meaning.

    >>> sorted(letters_of(r"\\frac{1}{X}+\\sin y")), sorted(letters_of(r"\\angle B")), sorted(letters_of("{1,2}"))
    (['x', 'y'], ['a', 'b', 'e', 'g', 'l', 'n'], [])
    """
    rest = _COMMAND.sub(lambda match: "" if match[0] in _FIXED else match[1], form.translate(GREEK_COMMANDS))
    return frozenset(char for char in rest.casefold() if char.isalpha())


def _unmatched(form: str) -> bool:
    """Whether brackets are unbalanced; those of an interval need not match each other."""
    opened = form.count("(") + form.count("[")
    return form.count("{") != form.count("}") or opened != form.count(")") + form.count("]")


def _has_letters(form: str) -> bool:
    greek = any(name.casefold() in NAMES for name in _COMMAND.findall(form))
    return greek or bool(_LETTER.search(_COMMAND.sub("", form)))
