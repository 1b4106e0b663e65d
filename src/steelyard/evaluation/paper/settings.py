"""How much is measured: seeds, resamples, and the share of the questions that may be calibrated on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Item = TypeVar("Item")

RESERVE = 0.4  # of the questions are for calibration, as in the paper: 200 of MATH500's 500
DRAWN = 0.5  # of those are drawn for a run: 100


def ignored(done: float) -> None:
    """Progress nobody asked for."""


@dataclass(frozen=True)
class Settings:
    """One seed, and how often things are repeated; `told` hears how far an experiment is."""

    seed: int = 0
    runs: int = 3  # calibration sets drawn, the paper's three seeds
    resamples: int = 100  # random subsets of n samples
    again: int = 5  # the same for methods that must vote again on every subset
    quick: bool = False
    told: Callable[[float], None] = field(default=ignored, compare=False, repr=False)

    @staticmethod
    def quickly(seed: int = 0) -> Settings:
        """What finishes in under a minute."""
        return Settings(seed, runs=2, resamples=20, again=1, quick=True)

    def each(self, items: Sequence[Item]) -> Iterator[Item]:
        """Go through the items of an experiment and tell how far it is."""
        for done, item in enumerate(items):
            self.told(done / len(items))
            yield item
        self.told(1.0)
