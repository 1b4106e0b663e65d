"""How much work one answer may cost: so many steps, and so many more for each of its characters.

Whoever does work that a text can drive (a token read, a term multiplied, a bracket matched) spends steps of about a
microsecond. An answer that runs out of them is not understood, is a class of its own, and is counted: a reply can be
made to cost its length times a constant, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TypeVar

BASE = 20_000
PER_CHARACTER = 100
REMEMBERED = 20_000  # texts

T = TypeVar("T")


class OutOfBudget(Exception):  # noqa: N818 - not an error: the answer is kept as it is written
    """The answer costs more steps than its length allows."""


class Budget:
    """The steps that one answer may still spend."""

    def __init__(self, allowed: float) -> None:
        self.allowed = allowed
        self.spent = 0

    def spend(self, steps: int) -> None:
        self.spent += steps
        if self.spent > self.allowed:
            raise OutOfBudget


_current: ContextVar[Budget | None] = ContextVar("steelyard-answer-budget", default=None)


def allowance(characters: int) -> int:
    """The steps that a text of this length may cost."""
    return BASE + PER_CHARACTER * characters


@contextmanager
def budget_for(text: str) -> Iterator[Budget]:
    """Count the steps within the block; past the allowance of the text they are refused with OutOfBudget."""
    made = Budget(allowance(len(text)))
    before = _current.set(made)
    try:
        yield made
    finally:
        _current.reset(before)


def spend(steps: int = 1) -> None:
    """Take steps off the budget of the answer that is being read, if one is."""
    current = _current.get()
    if current is not None:
        current.spend(steps)


def remembered(function: Callable[[str], T]) -> Callable[[str], T]:
    """Remember what a text gave and how many steps it cost: asked again it costs the same steps, and no work."""
    known: dict[str, tuple[T, int]] = {}

    @wraps(function)
    def asked(text: str) -> T:
        current = _current.get()
        if current is None:  # nobody counts the steps
            return function(text)
        before = known.get(text)
        if before is not None:
            current.spend(before[1])
            return before[0]
        spent = current.spent
        result = function(text)
        if len(known) >= REMEMBERED:
            known.clear()
        known[text] = result, current.spent - spent
        return result

    return asked
