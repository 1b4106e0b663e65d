"""Ablation of the paper's appendix: the KDE vote with the true q_M of each question (an oracle)."""

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.llm_reliability import question_odds
from steelyard.voting.methods.base.setting import setting
from steelyard.voting.methods.kde import RELIABILITIES, KDEVote
from steelyard.voting.pools.pool import LabelledPool, Pool


@dataclass(repr=False, eq=False)
class KDEOptimalLLMVote(KDEVote):
    """The kde vote with the true reliability of the LLM on each question.

    It shows how much of the gap to `optimal` is the estimate of the LLM's reliability.
    """

    name: ClassVar[str] = "kde-optimal-llm"
    colour: ClassVar[str | None] = "#e3a9c9"
    oracle: ClassVar[bool] = True

    reliability: str = setting("printed", "the LLM's term: floored, printed (as in the paper) or fitted", RELIABILITIES)

    def llm_term(self, pool: Pool) -> NDArray[np.float64]:
        return question_odds(cast(LabelledPool, pool))
