"""How much is measured: seeds, resamples, and the share of the questions that may be calibrated on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Item = TypeVar("Item")

RESERVE = 0.4  # of the questions are for calibration, as in the paper: 200 of MATH500's 500
DRAWN = 0.5  # of those are drawn for a run: 100


def no_progress(done: float) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class Settings:
    """One seed, and how often things are repeated; `progress` is called with the share that is done."""

    seed: int = 0
    runs: int = 3  # calibration sets drawn, the paper's three seeds
    resamples: int = 100  # random subsets of n samples
    again: int = 5  # the same for methods that must vote again on every subset
    quick: bool = False
    progress: Callable[[float], None] = field(default=no_progress, compare=False, repr=False)

    @staticmethod
    def quickly(seed: int = 0) -> Settings:
        """What finishes in under a minute."""
        return Settings(seed, runs=2, resamples=20, again=1, quick=True)

    def each(self, items: Sequence[Item]) -> Iterator[Item]:
        """Go through the items of an experiment and report the progress."""
        for done, item in enumerate(items):
            self.progress(done / len(items))
            yield item
        self.progress(1.0)
