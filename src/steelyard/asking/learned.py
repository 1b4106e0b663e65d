"""What a plan has learned about asking: how to fill in what was not asked, how far to go on, and what that is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.asking.filling import LEAST, Filling
from steelyard.errors import PlanError
from steelyard.pools.logistic import expit

FAR = 1e6
SURE = 1e-6


@dataclass(frozen=True)
class Asking:
    """The numbers that `expected` goes by, learned by replaying it on the calibration questions."""

    level: float
    by_share: float
    between: float
    within: float
    sharpness: float  # log-odds per unit of an answer's total
    margin: float  # an answer is asked about while it may be this many log-odds short of the lead; 0: never
    confidence_intercept: float  # of the log-odds of a verdict's confidence,
    confidence_slope: float  # which some scores give otherwise than all
    price: float  # of one score, in accuracy
    gain: float  # expected accuracy with all scores, less that with none
    loss: float  # expected accuracy lost against all scores
    scored: float  # share of the responses that are read

    @property
    def filling(self) -> Filling:
        """How a score that was not asked is filled in."""
        return Filling(self.level, self.by_share, self.between, self.within)

    def recalibrated(self, confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """The confidence in verdicts with some scores only; that of no answer stays 0."""
        inside = np.clip(confidence, SURE, 1 - SURE)
        odds = self.confidence_intercept + self.confidence_slope * (np.log(inside) - np.log1p(-inside))
        return np.where(confidence > 0, expit(odds), 0.0)

    def plain(self) -> dict[str, float]:
        """As a plan writes it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, stored: Mapping[str, Any]) -> Asking:
        """Read what a plan keeps, and refuse what is damaged."""
        wanted = [field.name for field in fields(cls)]
        if sorted(stored) != sorted(wanted) or not all(type(stored[name]) in (int, float) for name in wanted):
            raise PlanError("what it learned about asking is damaged: fit it again with --frugal expected")
        found = cls(**{name: float(stored[name]) for name in wanted})
        variances = (found.between, found.within)
        positive = min(found.sharpness, found.margin, found.price, found.scored) >= 0
        if not positive or min(variances) < LEAST or not all(abs(value) <= FAR for value in asdict(found).values()):
            raise PlanError("what it learned about asking is damaged: fit it again with --frugal expected")
        return found
