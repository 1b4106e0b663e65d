"""Best-of-Majority: among the frequent answers of a question, the one with the top score.

    winner = argmax over answers k with n_k / N >= min_share of  max score of k

N counts the responses with an answer, n_k those that gave k. If no answer is so frequent, the most frequent ones are
compared. Di et al., "Best-of-Majority: Minimax-Optimal Strategy for Pass@k Inference Scaling", arXiv 2510.03199, here
with k = 1. Their threshold follows from constants that are not known in practice; the default here, 1/8, is not theirs.

As weights: 1 for a frequent answer's first response at the top score of such answers, 0 for all others. Answers that
share the top score are tied; the higher total score wins, then more votes.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SettingError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import setting
from steelyard.voting.pools.pool import Pool
from steelyard.voting.tally import answer_totals

ROUNDING = 1e-9  # 3 of 10 responses reach a share of 0.3


@dataclass(repr=False, eq=False)
class BestOfMajority(Method):
    """The answer with the single best score wins, among the answers with a given share of the votes.

    A response without a score counts for the share of its answer, but is never the best.

    >>> pool = Pool.from_arrays(question=[0] * 5, answer=[4, 4, 7, 7, 9], scores=[0.1, 0.2, 0.1, 0.3, 0.9])
    >>> BestOfMajority(min_share=0.4).predict(pool).answer
    array([7], dtype=int32)
    """

    name: ClassVar[str] = "best-of-majority"
    only_by_name: ClassVar[bool] = True
    label: ClassVar[str | None] = "best-of-majority"

    min_share: float = setting(0.125, "share of the votes that an answer needs to be compared by score")

    def check_settings(self) -> None:
        if not 0 <= self.min_share <= 1:
            raise SettingError(f"min_share must be at least 0 and at most 1, not {self.min_share}")

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Return 1 where a response stands for a frequent answer at the top score of such answers, else 0 [R]."""
        from steelyard.voting import kernels

        _, votes = answer_totals(pool, np.ones(pool.n_responses))
        own = np.zeros(pool.n_responses, np.int64)  # the votes of each response's answer
        offsets = pool.spread(np.cumsum(pool.width) - pool.width)
        own[pool.readable] = votes[(offsets + pool.answer)[pool.readable]]
        highest = np.maximum.reduceat(own, pool.starts[:-1])
        needed = self.min_share * np.add.reduceat(pool.readable.astype(np.int64), pool.starts[:-1]) - ROUNDING
        frequent = pool.readable & (own >= pool.spread(np.minimum(highest, needed)))
        answer = np.where(frequent, pool.answer, -1).astype(pool.answer.dtype)
        weights = np.empty(pool.n_responses)
        kernels.best_weights(pool.starts, answer, pool.known_scores, np.full(max(1, pool.width.max()), -1), weights)
        return weights
