"""What kind of statement a form is, by its signs: a value, an equation, an inequality, or nothing to compare.

math-verify compares an equation with a value by the right side alone, takes an inequality for no value, and has no
value for a statement about numbers only (`3 = 2 + 1`), for a union or a `\\\\pm` of numbers, and for braces that do not
match: those are classes of their own.
"""

from __future__ import annotations

import re
from enum import Enum

from steelyard.answers.expression_values import NAMES


class Statement(Enum):
    """What can be said of a form without reading it."""

    VALUE = "value"
    EQUATION = "equation"
    INEQUALITY = "inequality"
    NOTHING = "nothing"
    UNCLEAR = "unclear"


_INEQUALITY = re.compile(r"[<>]|\\(?:le|ge|ne|lt|gt)(?![A-Za-z])")
_SEVERAL = re.compile(r"\\(?:cup|cap|pm|mp|setminus)(?![A-Za-z])")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_LETTER = re.compile(r"[^\W\d_ei]", re.IGNORECASE)  # but for those that may be constants
_CONSTANT = re.compile(r"[ei]", re.IGNORECASE)
_CALL = re.compile(r"(?<!sqr)[A-Za-z]\(")  # f(3) has no letters for math-verify


def statement(form: str) -> Statement:
    """Tell what kind of statement a form is.

    >>> [statement(form).value for form in ("x+1", "x+y=3", "x<3", "1=1", "1<x=3", "f(1)=2")]
    ['value', 'equation', 'inequality', 'nothing', 'inequality', 'unclear']
    """
    if form.count("{") != form.count("}"):
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


def _has_letters(form: str) -> bool:
    greek = any(name.casefold() in NAMES for name in _COMMAND.findall(form))
    return greek or bool(_LETTER.search(_COMMAND.sub("", form)))
