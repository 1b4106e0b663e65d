"""Parse an answer that is a single choice, matrix, list, equation or expression."""

from __future__ import annotations

import re

from steelyard.answers.expressions import expression
from steelyard.answers.lists import listed, matrix, split, union
from steelyard.answers.polynomials import TooHard, divide, number, render
from steelyard.answers.scalars import scalar
from steelyard.answers.step_budget import memoized

_JOIN = re.compile(r",?+\s++(?:and|or)\s++")
_NAME = re.compile(r"([A-Za-z])(?:_\{?\w{1,3}\}?)?+")
_CHOICE = re.compile(r"\(?([A-J])\)?[.:]?")


@memoized
def value_form(text: str) -> str | None:
    """Return the normal form of a choice, matrix, list, equation or expression; None for any other text."""
    choice = _CHOICE.fullmatch(text)
    if choice:
        return choice[1]
    for parse in (matrix, union, listed, _plus_minus, _solutions, _equation, scalar):
        try:
            form = parse(text)
        except (TooHard, ZeroDivisionError, ValueError, RecursionError):
            continue
        if form is not None:
            return form
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


def _solutions(text: str) -> str | None:
    """Several solutions, x = 1 or x = 2: the set of values of one letter, or each of several letters with its value."""
    parts = split(_JOIN.sub(", ", text), ",")
    sides = [split(part, "=") for part in parts]
    if len(parts) < 2 or not all(len(side) == 2 and _NAME.fullmatch(side[0]) for side in sides):
        return None
    values = sorted({(_NAME.sub(r"\1", name), scalar(value)) for name, value in sides})
    names = {name for name, _ in values}
    if len(names) == 1:
        return "{" + ",".join(sorted((value for _, value in values), key=lambda one: (len(one), one))) + "}"
    return ",".join(f"{name}={value}" for name, value in values)


def _equation(text: str) -> str | None:
    """The result of a calculation, or the polynomial of an equation up to a factor."""
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
