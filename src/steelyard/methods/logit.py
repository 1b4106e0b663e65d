"""Logit weighted vote, w(p) = logit(p) - logit(b), scores clipped to [clip, 1 - clip] first."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Floats
from steelyard.methods._offset import OffsetVote
from steelyard.weights import logit


@dataclass(repr=False)
class LogitVote(OffsetVote):
    """b = 0 is the majority vote, the limit as every response comes to weigh the same."""

    clip: float = logit.CLIP

    def evidence(self, p: Floats) -> NDArray[np.float64]:
        return logit.evidence(p, self.clip)

    def score_at(self, offset: float) -> float:
        return float(logit.expit(offset))

    def grid_offsets(self) -> NDArray[np.float64]:
        return np.array([logit.logit(b) for b in np.linspace(0, 1, self.points)])

    def check_settings(self) -> None:
        super().check_settings()
        logit.check_clip(self.clip)
