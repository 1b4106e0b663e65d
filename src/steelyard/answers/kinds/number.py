"""number: what `math` reads, and of that the number; 1.5e3 and 1500 are one number."""

from __future__ import annotations

from steelyard.answers.kind import Kind, Named, Rule
from steelyard.answers.kinds import math
from steelyard.answers.normal import normal_form
from steelyard.answers.number_spellings import scientific
from steelyard.answers.numbers import number_within


def number_form(answer: str) -> str:
    """The normal form of a number.

    >>> number_form("1.5e3"), number_form("1,500"), number_form("3/4"), number_form("2.5e-1")
    ('1500', '1500', '3/4', '1/4')
    """
    return scientific(answer) or normal_form(answer)


def _number_in(rule: Rule) -> Rule:
    """The number in what another rule found."""

    def number(text: str) -> str | None:
        found = rule(text)
        return None if found is None else number_within(found) if found.strip() else found

    return number


MARKED: tuple[Named, ...] = tuple((name, _number_in(rule)) for name, rule in math.MARKED)
LOOSE: tuple[Named, ...] = tuple((name, _number_in(rule)) for name, rule in math.LOOSE)
KIND = Kind("number", MARKED, LOOSE, number_within, number_form, maths=True)
