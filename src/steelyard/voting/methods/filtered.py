"""Filtered voting: only the responses with the top scores of a question vote, each with its score.

Of N responses with an answer and a score, the best k = floor(share (N - 1)) + 1 vote, as many as reach the percentile
1 - share of the scores:

    w = p for the k best, 0 for the others

Equal scores at the cut share the votes that are left: with two of them and one vote left, each weighs p / 2. (The
published code keeps all of them.) This is the vote of DeepConf: Fu et al., "Deep Think with Confidence",
arXiv 2508.15260, whose score is a windowed log-probability, and whose share is 0.1 (DeepConf-low) or 0.9
(DeepConf-high, the default here).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SettingError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import setting
from steelyard.voting.pools.pool import Pool
from steelyard.voting.question_weights import ScoreRanks

ROUNDING = 1e-9  # 0.29 x 100 is a little less than 29


@dataclass(repr=False, eq=False)
class FilteredVote(Method):
    """Count only the responses with the top scores of a question, each weighted by its score.

    A response without a score does not vote, unless no response of its question has one; then all vote alike.

    >>> pool = Pool.from_arrays(question=[0, 0, 0, 0], answer=[4, 4, 9, 9], scores=[0.5, 0.6, 0.1, 0.9])
    >>> FilteredVote(share=0.5).weigh(pool)
    array([0. , 0.6, 0. , 0.9])
    """

    name: ClassVar[str] = "filtered"
    only_by_name: ClassVar[bool] = True

    share: float = setting(0.9, "part of the responses that vote, those with the top scores")

    def check_settings(self) -> None:
        if not 0 < self.share <= 1:
            raise SettingError(f"share must be above 0 and at most 1, not {self.share}")

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        ranks = ScoreRanks.of(pool)
        voters = np.floor(self.share * (ranks.size - 1) + ROUNDING) + 1
        part = np.clip((voters - (ranks.size - ranks.upto)) / ranks.ties, 0.0, 1.0)
        unscored = pool.spread(np.logical_or.reduceat(ranks.scored, pool.starts[:-1]) == 0)
        p = np.where(ranks.scored, pool.known_scores, 0.0).astype(np.float64)
        return np.where(unscored, 1.0, p * part)
