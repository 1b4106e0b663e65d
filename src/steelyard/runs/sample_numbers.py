"""Several sources in one run: in the journal, sample i of source number k has the number 100 i + k.

So every sample has a number of its own, whoever gave it, and neither more samples nor a new source change the numbers
that are there. A run whose upstream has no name knows no sources, and the number of a sample is i itself.
"""

from __future__ import annotations

from typing import TypeVar

from steelyard.runs.parameters import MOST_SAMPLES
from steelyard.voting.pools.arrays import Ints

Number = TypeVar("Number", int, Ints)
MOST_SOURCES = 100
MOST_OF_A_SOURCE = MOST_SAMPLES // MOST_SOURCES  # samples per question


def number_of(sample: int, place: int) -> int:
    """The number of a sample in the journal; `place` is that of its source among the sources of the run.

    >>> number_of(2, 1), placed(201)
    (201, (2, 1))
    """
    return sample * MOST_SOURCES + place


def placed(number: Number) -> tuple[Number, Number]:
    """Which sample of which source a number is, or each of several numbers."""
    return number // MOST_SOURCES, number % MOST_SOURCES
