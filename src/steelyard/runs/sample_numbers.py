"""Several sources in one run: in the journal, sample i of source number k has the number 100 i + k.

Every sample has a unique number, and neither more samples nor a new source change existing numbers. A run whose
upstream has no name has no sources, and the number of a sample is i itself.
"""

from __future__ import annotations

from typing import TypeVar

from steelyard.runs.parameters import MAX_SAMPLES
from steelyard.voting.pools.arrays import Ints

Number = TypeVar("Number", int, Ints)
MAX_SOURCES = 100
MAX_SAMPLES_PER_SOURCE = MAX_SAMPLES // MAX_SOURCES  # samples per question


def number_of(sample: int, source: int) -> int:
    """Return the journal number of a sample; `source` is the index of its source in the run.

    >>> number_of(2, 1), split_number(201)
    (201, (2, 1))
    """
    return sample * MAX_SOURCES + source


def split_number(number: Number) -> tuple[Number, Number]:
    """Return the sample and the source of a journal number, or of an array of numbers."""
    return number // MAX_SOURCES, number % MAX_SOURCES
