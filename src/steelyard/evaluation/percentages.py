"""Shares and their differences as people read them: percent and percentage points, with one decimal."""

from __future__ import annotations

import math
from collections.abc import Sequence


def percent(share: float | None, digits: int = 1, dash: str = "-") -> str:
    """A share as a percentage without its sign; a dash where there is none.

    >>> percent(0.5312), percent(None), percent(float("nan")), percent(0.5312, 0)
    ('53.1', '-', '-', '53')
    """
    return dash if share is None or math.isnan(share) else f"{100 * share:.{digits}f}"


def points(difference: float | None, *, minus: str = "-") -> str:
    """A difference of shares in percentage points, always with its sign; 0 has none.

    >>> points(0.012), points(-0.0001), points(None), points(-0.012, minus="−")
    ('+1.2', '0.0', '-', '−1.2')
    """
    if difference is None or math.isnan(difference):
        return "-"
    text = f"{100 * difference:+.1f}"
    return "0.0" if text[1:] == "0.0" else text.replace("-", minus)


def tenths(parts: Sequence[float]) -> list[int]:
    """Shares in tenths of a per cent, each rounded down or up so that together they are what the shares add up to.

    >>> tenths([1 / 3, 1 / 3, 1 / 3]), tenths([0.8766, 0.0667, 0.0567])
    ([334, 333, 333], [876, 67, 57])
    """
    exact = [1000 * part for part in parts]
    down = [math.floor(value) for value in exact]
    missing = round(math.fsum(exact)) - sum(down)
    for i in sorted(range(len(exact)), key=lambda i: down[i] - exact[i])[:missing]:
        down[i] += 1
    return down
