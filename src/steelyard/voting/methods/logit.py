"""Logit weighted vote, w(p) = logit(p) - logit(b), scores clipped to [clip, 1 - clip] first."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.methods.base.offset_vote import OffsetVote
from steelyard.voting.methods.base.setting import setting
from steelyard.voting.pools.arrays import Floats
from steelyard.voting.pools.scores import CLIP, expit
from steelyard.voting.score_weights import check_clip, clipped_logit, logit


@dataclass(repr=False, eq=False)
class LogitVote(OffsetVote):
    """Weight each response by logit(score) - logit(b): a score below b counts against its answer.

    b = 0 is the majority vote, the limit as every response comes to weigh the same.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> vote = sy.LogitVote().fit(cal)
    >>> vote.weight(0.9) > vote.weight(0.1), 0 <= vote.b < 1
    (True, True)
    """

    name: ClassVar[str] = "logit"
    colour: ClassVar[str | None] = "#0072b2"

    clip: float = setting(CLIP, "minimum distance of a score from 0 and 1")

    def evidence(self, p: Floats) -> NDArray[np.float64]:
        return clipped_logit(p, self.clip)

    def score_at(self, offset: float) -> float:
        return float(expit(offset))

    def grid_offsets(self) -> NDArray[np.float64]:
        return np.array([logit(b) for b in np.linspace(0, 1, self.points)])

    def check_settings(self) -> None:
        super().check_settings()
        check_clip(self.clip)
