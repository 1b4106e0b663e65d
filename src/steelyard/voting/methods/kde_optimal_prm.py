"""Ablation of the paper's appendix: the KDE vote with each question's own densities (an oracle)."""

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.llm_reliability import question_ratio
from steelyard.voting.methods.base.setting import setting
from steelyard.voting.methods.kde import RELIABILITIES, KDEVote
from steelyard.voting.pools.pool import LabelledPool, Pool


@dataclass(repr=False, eq=False)
class KDEOptimalPRMVote(KDEVote):
    """The kde vote with each question's own score densities.

    It shows how much of the gap to `optimal` is the estimate of the score densities (leak included).
    """

    name: ClassVar[str] = "kde-optimal-prm"
    colour: ClassVar[str | None] = "#a35a86"
    oracle: ClassVar[bool] = True

    reliability: str = setting("printed", "the LLM's term: floored, printed (as in the paper) or fitted", RELIABILITIES)

    def prm_term(self, pool: Pool) -> NDArray[np.float64]:
        return question_ratio(cast(LabelledPool, pool), clip=self.clip, crossfit=False)
