"""Best-of-N: the answer of the response with the highest score.

As weights: 1 for an answer's first response at the question's top score, 0 for all others.
Answers that share the top score are tied; the one with more votes wins, then the one seen first. The total
score, which breaks all other ties, is left out: on average it is right no more often than the votes, and which
of two answers totals more over all subsets of n samples is a question of subset sums, without a formula,
where votes have one (kernels/subset_chances.py). A response without a score can never be the best: it only counts
where no response of the question has one.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.methods.base.method import Method
from steelyard.voting.on_demand.bounds import AnswerBounds
from steelyard.voting.pools.pool import Pool


@dataclass(repr=False, eq=False)
class BestOfN(Method):
    """The answer with the single best score wins; without scores, this is the majority vote.

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.1, 0.2, 0.9])
    >>> BestOfN().predict(pool).answer
    array([9], dtype=int32)
    """

    name: ClassVar[str] = "best-of-n"
    votes_on_similar: ClassVar[bool] = True
    counts_similar: ClassVar[bool] = True  # the response with the best score wins, not one that is similar
    label: ClassVar[str | None] = "best-of-N"
    colour: ClassVar[str | None] = "#e69f00"
    exact_subsets: ClassVar[str | None] = "best-of-n"
    ties_by_score: ClassVar[bool] = False

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Return 1 where a response stands for an answer at the top score, else 0 [R]."""
        from steelyard.voting import kernels

        weights = np.empty(pool.n_responses)
        kernels.best_weights(
            pool.starts, pool.answer, pool.known_scores, np.full(max(1, pool.width.max()), -1), weights
        )
        return weights

    def _bounds(self, pool: Pool) -> AnswerBounds:
        lower = np.nan_to_num(np.asarray(pool.known_scores, np.float64), nan=-1.0)  # never the best
        unread = np.zeros(pool.n_responses, bool) if pool.scored is None else ~pool.scored
        return AnswerBounds(lower, np.where(unread, 1.0, lower), by_best=True)
