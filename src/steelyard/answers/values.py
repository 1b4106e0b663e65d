"""The value of an answer that is one thing: a choice, a matrix, a list, an equation or an expression."""

from __future__ import annotations

import re

from steelyard.answers.expressions import expression
from steelyard.answers.lists import listed, matrix, split, union
from steelyard.answers.polynomials import TooHard, divide, number, render
from steelyard.answers.scalars import scalar
from steelyard.answers.step_budget import remembered

_CHOICE = re.compile(r"\(?([A-J])\)?[.:]?")


@remembered
def value_form(text: str) -> str | None:
    """The value of a text as a choice, a matrix, a list, an equation or an expression; None if it is none."""
    choice = _CHOICE.fullmatch(text)
    if choice:
        return choice[1]
    for form in (matrix, union, listed, _plus_minus, _equation, scalar):
        try:
            found = form(text)
        except (TooHard, ZeroDivisionError, ValueError, RecursionError):
            continue
        if found is not None:
            return found
    return None


def _plus_minus(text: str) -> str | None:
    if text.count("\\pm") != 1:
        return None
    both = {scalar(text.replace("\\pm", sign)) for sign in ("+", "-")}
    return (
        "{" + ",".join(sorted(both, key=lambda part: (part.startswith("-"), part))) + "}"
        if len(both) > 1
        else both.pop()
    )


def _equation(text: str) -> str | None:
    """A calculation is worth what it ends in; an equation is its polynomial, up to a factor."""
    sides = split(text, "=")
    if len(sides) < 2:
        return None
    last = expression(sides[-1])
    if not set(last) - {()} and (len(sides) > 2 or not set(expression(sides[0])) - {()}):
        return render(last)
    if len(sides) > 2:
        raise TooHard
    left = expression(f"({sides[0]})-({sides[1]})")
    if not left:
        raise TooHard
    largest = max(left)
    form = divide(left, number(left[largest]))
    return render(form) + "=0"
