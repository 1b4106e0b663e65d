"""number: what `math` reads, and of that the number; 1.5e3 and 1500 are one number."""

from __future__ import annotations

import re
from fractions import Fraction

from steelyard.answers.kind import Kind, Named, Rule
from steelyard.answers.kinds import math
from steelyard.answers.normal import normal_form
from steelyard.answers.numbers import number_within

_SCIENTIFIC = re.compile(r"([-+−]?)(\d{1,40}(?:\.\d{1,40})?|\.\d{1,40})[eE]([-+]?\d{1,3})")


def number_form(answer: str) -> str:
    """The normal form of a number.

    >>> number_form("1.5e3"), number_form("1,500"), number_form("3/4"), number_form("2.5e-1")
    ('1500', '1500', '3/4', '1/4')
    """
    found = _SCIENTIFIC.fullmatch(answer.strip())
    if found:
        value = Fraction(found[2]) * Fraction(10) ** int(found[3])
        return str(-value if found[1] in ("-", "−") else value)
    return normal_form(answer)


def _number_in(rule: Rule) -> Rule:
    """The number in what another rule found."""

    def number(text: str) -> str | None:
        found = rule(text)
        return None if found is None else number_within(found) if found.strip() else found

    return number


MARKED: tuple[Named, ...] = tuple((name, _number_in(rule)) for name, rule in math.MARKED)
LOOSE: tuple[Named, ...] = tuple((name, _number_in(rule)) for name, rule in math.LOOSE)
KIND = Kind("number", MARKED, LOOSE, number_within, number_form, maths=True)
