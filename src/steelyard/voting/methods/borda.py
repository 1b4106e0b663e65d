"""Borda voting by rank: a response weighs its rank by score within the question, raised to a power.

    w = (r / N)^power,     r = 1 for the lowest of N scores; equal scores have their mean rank

Only the order of the scores counts, so any scale will do that ranks well within a question. power = 0 is majority
vote, power = 1 the Borda count; a large power follows the top score. Kang et al., "Scalable Best-of-N Selection for
Large Language Models via Self-Certainty", arXiv 2502.18581, whose code has power = 0.5 as its default.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SettingError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import setting
from steelyard.voting.pools.pool import Pool
from steelyard.voting.question_weights import ScoreRanks, mean_where_missing

LARGEST = 100.0


@dataclass(repr=False, eq=False)
class BordaVote(Method):
    """Weight each response by its rank by score within the question, raised to a power.

    A response without a score has the mean weight of its question.

    >>> pool = Pool.from_arrays(question=[0, 0, 0, 0], answer=[4, 9, 9, 4], scores=[0.1, 0.2, 0.2, 0.9])
    >>> BordaVote().weigh(pool) * 4
    array([1. , 2.5, 2.5, 4. ])
    """

    name: ClassVar[str] = "borda"
    only_by_name: ClassVar[bool] = True
    label: ClassVar[str | None] = "Borda vote"

    power: float = setting(1.0, "exponent of the rank: 0 counts votes, 1 is the Borda count, large follows the top")

    def check_settings(self) -> None:
        if not 0 <= self.power <= LARGEST:
            raise SettingError(f"power must be at least 0 and at most {LARGEST:g}, not {self.power}")

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        ranks = ScoreRanks.of(pool)
        return mean_where_missing(pool, (ranks.mean / ranks.size) ** self.power, ranks.scored)
