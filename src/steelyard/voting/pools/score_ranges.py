"""Scores that run beyond [0, 1], and the spellings that bring the likely ones inside."""

from __future__ import annotations

import math
import re

from steelyard.foundation.arguments import argument

LOG_PROBABILITY = re.compile(r"log_?p|log_?lik|(^|_)ll($|_)", re.IGNORECASE)
CEILINGS = (1, 2, 3, 4, 5, 7, 9, 10, 20, 50, 100, 1000)  # where people let their scales end


def range_fixes(column: str, low: float, high: float, whole: str | None = None) -> str:
    """Say how scores from `low` to `high` may be read; `whole` is what was asked for, of which the column is a part.

    >>> range_fixes("judge", 1.0, 4.5)
    "if 5 is the best, read them with score='judge/5'; if a rating from 1 to 5, with score='(judge-1)/4'; if logits, \
read them with score='sigmoid(judge)'"
    >>> range_fixes("logprob", -2.5, -0.1)
    "if log-probabilities, read them with score='exp(logprob)'"
    """
    name, _, reducer = column.partition(":")
    turned = "1-" if name.startswith("1-") else ""  # less is better
    if turned:
        name, low, high = name.removeprefix(turned), 1 - high, 1 - low
    if "/" in name and not name.startswith(("sigmoid(", "exp(")):
        return "choose what it is divided by so that the highest score becomes 1"
    top = _ceiling(high)

    def asked(spelling: str) -> str:
        fixed = f"{turned}{spelling}{':' * bool(reducer)}{reducer}"
        parts = (whole or column).split("+")
        return argument("score", "+".join(fixed if part == column else part for part in parts))

    if name.startswith("exp("):
        return f"only log-probabilities, which are at most 0, can be read so; name {name[4:-1]!r} as it is instead"
    fixes = []
    if high <= 0:
        fixes.append(f"if log-probabilities, read them with {asked(f'exp({name})')}")
    if fixes and LOG_PROBABILITY.search(name):
        return fixes[0]
    if math.isfinite(top) and low >= 0:
        what = "these are percent" if top == 100 else f"{top} is the best"
        fixes.append(f"if {what}, read them with {asked(f'{name}/{top}')}")
        if low >= 1:
            fixes.append(f"if a rating from 1 to {top}, with {asked(f'({name}-1)/{top - 1}')}")
    elif math.isfinite(top) and math.isfinite(low):
        bottom = _ceiling(-low)
        fixes.append(f"if a scale from -{bottom} to {top}, read them with {asked(f'({name}+{bottom})/{bottom + top}')}")
    return "; ".join((*fixes, f"if logits, read them with {asked(f'sigmoid({name})')}"))


def _ceiling(high: float) -> float:
    """The end of the scale that a highest score suggests."""
    if not math.isfinite(high):
        return math.inf
    return next((end for end in CEILINGS if end >= high), None) or 10 ** math.ceil(math.log10(high))
