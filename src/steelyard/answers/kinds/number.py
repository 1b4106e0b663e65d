"""number: the number in an answer that `math` extracts; 1.5e3 and 1500 are the same."""

from __future__ import annotations

from steelyard.answers.kind import Kind, NamedRule, Rule
from steelyard.answers.kinds import math
from steelyard.answers.normal import normal_form
from steelyard.answers.numbers import number_within, scientific


def number_form(answer: str) -> str:
    """Return the normal form of a number.

    >>> number_form("1.5e3"), number_form("1,500"), number_form("3/4"), number_form("2.5e-1")
    ('1500', '1500', '3/4', '1/4')
    """
    return scientific(answer) or normal_form(answer)


def _number_in(rule: Rule) -> Rule:
    """A rule that returns the number in the result of another rule."""

    def number(text: str) -> str | None:
        answer = rule(text)
        return None if answer is None else number_within(answer) if answer.strip() else answer

    return number


MARKED: tuple[NamedRule, ...] = tuple((name, _number_in(rule)) for name, rule in math.MARKED)
LOOSE: tuple[NamedRule, ...] = tuple((name, _number_in(rule)) for name, rule in math.LOOSE)
KIND = Kind("number", MARKED, LOOSE, number_within, number_form, maths=True)
