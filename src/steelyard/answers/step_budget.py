"""Bound the work per answer: a fixed number of steps plus a number per character.

Work that a text can cause (reading a token, multiplying a term, matching a bracket) spends steps of about a
microsecond. An answer that exceeds its budget is not parsed, is its own class, and is counted, so that no reply costs
more than a constant times its length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TypeVar

BASE = 20_000
PER_CHARACTER = 100
CACHE_SIZE = 20_000  # texts

T = TypeVar("T")


class OutOfBudget(Exception):  # noqa: N818 - not an error: the answer is compared as written
    """The answer needs more steps than its length allows."""


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
    """Return the number of steps that a text of this length may cost."""
    return BASE + PER_CHARACTER * characters


@contextmanager
def budget_for(text: str) -> Iterator[Budget]:
    """Count the steps in the block; exceeding the allowance of the text raises OutOfBudget."""
    budget = Budget(allowance(len(text)))
    before = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(before)


def spend(steps: int = 1) -> None:
    """Spend steps of the budget of the current answer, if there is one."""
    current = _current.get()
    if current is not None:
        current.spend(steps)


def memoized(function: Callable[[str], T]) -> Callable[[str], T]:
    """Cache the result and its number of steps: a repeated call spends the same steps but does no work."""
    cache: dict[str, tuple[T, int]] = {}

    @wraps(function)
    def wrapper(text: str) -> T:
        current = _current.get()
        if current is None:  # steps are not counted
            return function(text)
        cached = cache.get(text)
        if cached is not None:
            current.spend(cached[1])
            return cached[0]
        spent = current.spent
        result = function(text)
        if len(cache) >= CACHE_SIZE:
            cache.clear()
        cache[text] = result, current.spent - spent
        return result

    return wrapper
