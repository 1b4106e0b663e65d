"""Classify a form by its symbols: a value, an equation, an inequality, or nothing to compare.

math-verify compares an equation with a value by the right side only, never equates an inequality with a value, and has
no value for a statement about numbers (`3 = 2 + 1`), a union or a `\\\\pm` of numbers, unbalanced brackets, or a form
that lacks its last operand: each of those is its own class.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from steelyard.answers.expression_values import FUNCTIONS, GREEK_COMMANDS, NAMES


class Statement(Enum):
    """The kind of statement that a form makes."""

    VALUE = "value"
    EQUATION = "equation"
    INEQUALITY = "inequality"
    NOTHING = "nothing"
    UNCLEAR = "unclear"


_INEQUALITY = re.compile(r"[<>]|\\(?:le|ge|ne|lt|gt)(?![A-Za-z])")
_SEVERAL = re.compile(r"\\(?:cup|cap|pm|mp|setminus)(?![A-Za-z])")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_LETTER = re.compile(r"[^\W\d_ei]", re.IGNORECASE)  # except e and i, which may be constants
_CONSTANT = re.compile(r"[ei]", re.IGNORECASE)
_FIXED = {*FUNCTIONS, "\\log", "\\frac", "\\sqrt", "\\binom", "\\pi", "\\infty"}  # commands that are not letters
_CUT_OFF = re.compile(r"(?:[-+*/^_]|\\(?:frac|sqrt|sin|cos|tan|log|ln)|\^\{\})$")
_CALL = re.compile(r"(?<!sqr)[A-Za-z]\(")  # f(3) has no letters for math-verify


def statement(form: str) -> Statement:
    """Return the kind of statement that a form makes.

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
