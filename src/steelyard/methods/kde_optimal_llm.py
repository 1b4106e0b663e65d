"""Ablation of the paper's appendix: the KDE vote with the true q_M of each question (an oracle)."""

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.fitting.question_oracle import question_odds
from steelyard.methods.kde import KDEVote
from steelyard.pools.pool import LabelledPool, Pool


@dataclass(repr=False)
class KDEOptimalLLMVote(KDEVote):
    """How much of the gap to `optimal` is the estimate of the LLM's reliability."""

    name: ClassVar[str] = "kde-optimal-llm"
    oracle: ClassVar[bool] = True

    reliability: str = "printed"

    def llm_term(self, pool: Pool) -> NDArray[np.float64]:
        return question_odds(cast(LabelledPool, pool))
