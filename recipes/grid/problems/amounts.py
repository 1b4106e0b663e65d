"""How big a number is at each level."""

from __future__ import annotations

from random import Random


def amount(rng: Random, level: int, *ranges: tuple[int, int]) -> int:
    """A number from the range of the level; both ends count."""
    return rng.randint(*ranges[level - 1])
