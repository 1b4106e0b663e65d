"""Trimmed vote: the score is the weight, w(p) = p, but the lowest scores do not count at all, w(p) = 0."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import steelyard as sy


@dataclass(repr=False, eq=False)
class TrimmedVote(sy.Method):
    """Sum the scores of each answer, without the lowest scores; one that is missing counts as one of those."""

    name: ClassVar[str] = "trimmed"  # what the user types, and the name of the entry point
    label: ClassVar[str | None] = "the trimmed weighted vote"  # in running text
    colour: ClassVar[str | None] = "#882255"  # in every figure

    share: float = field(default=0.1, metadata={"help": "share of the calibration scores that are too low to count"})

    floor_: float = field(default=0.0, init=False)  # the lowest score that counts

    def check_settings(self) -> None:
        """Refuse a share that leaves nothing, or is none."""
        if not 0 <= self.share <= 0.9:
            raise sy.SettingError(f"share must lie between 0 and 0.9, not {self.share}")

    def check_learned(self) -> None:
        """Refuse a damaged plan."""
        if not 0 <= self.floor_ <= 1:
            raise sy.PlanError("its floor is no score")

    def _learn(self, pool: sy.Pool) -> None:
        self.floor_ = float(np.nanquantile(pool.known_scores, self.share))

    def weigh(self, pool: sy.Pool) -> NDArray[np.float64]:
        """Return the weight of every response."""
        p = np.nan_to_num(np.asarray(pool.known_scores, np.float64), nan=0.0)
        return np.where(p < self.floor_, 0.0, p)

    def by_response(self) -> bool:
        """A weight depends on its response alone: subsets are added up instead of voted again."""
        return True

    def weight(self, score: float) -> float:
        """Return what a score is worth; the page draws it."""
        return float(score) if score >= self.floor_ else 0.0
