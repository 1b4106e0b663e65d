"""Figures in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from steelyard.evaluation.percentages import percent


def cell(accuracy: float, sd: float | None, se: float | None) -> str:
    """A mean, the sd over runs and, in brackets, the standard error over questions.

    >>> cell(0.531, 0.002, 0.019)
    '53.1 ± 0.2 (1.9)'
    """
    spread = "" if sd is None or math.isnan(sd) else f" ± {percent(sd)}"
    error = "" if se is None or math.isnan(se) else f" ({percent(se)})"
    return f"{percent(accuracy)}{spread}{error}"


def count(number: int, what: str) -> str:
    """A number and its noun.

    >>> count(1, "pair"), count(3, "pair")
    ('1 pair', '3 pairs')
    """
    return f"{number} {what}" + ("" if number == 1 else "s")


def listed(names: Sequence[str]) -> str:
    """Names with commas and an and.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
