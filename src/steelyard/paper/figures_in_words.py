"""Figures in words."""

from __future__ import annotations

import math
from collections.abc import Sequence


def percent(share: float | None, digits: int = 1) -> str:
    """A share as a percentage without its sign.

    >>> percent(0.5312), percent(None), percent(float("nan"))
    ('53.1', '-', '-')
    """
    return "-" if share is None or math.isnan(share) else f"{100 * share:.{digits}f}"


def points(difference: float) -> str:
    """A difference of shares in points, always with its sign.

    >>> points(0.012), points(-0.0001)
    ('+1.2', '0.0')
    """
    text = f"{100 * difference:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


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
