"""MoB, majority of the bests: the answer that best-of-m gives most often on bootstrap samples of the question.

Of the N responses with an answer and a score, m are drawn with replacement and the best one is taken. The response of
rank r (1 = lowest score) is the best of the draw with probability

    w = (r / N)^m - ((r - 1) / N)^m

and k responses with equal scores, of the ranks r + 1 to r + k, share ((r + k) / N)^m - (r / N)^m equally. So nothing is
drawn. m = 1 is majority vote; as m grows, the vote becomes best-of-N. Rakhsha et al., "Majority of the Bests:
Improving Best-of-N via Bootstrapping", arXiv 2511.18630, choose m adaptively; the default here is sqrt(N), rounded.
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

LARGEST = 1_000_000


@dataclass(repr=False, eq=False)
class MoBVote(Method):
    """The most frequent answer of best-of-m over all bootstrap samples of m responses.

    A response without a score has the mean weight of its question.

    >>> pool = Pool.from_arrays(question=[0, 0, 0, 0], answer=[4, 9, 9, 4], scores=[0.1, 0.2, 0.3, 0.4])
    >>> MoBVote(m=2).weigh(pool) * 16
    array([1., 3., 5., 7.])
    """

    name: ClassVar[str] = "mob"
    only_by_name: ClassVar[bool] = True
    label: ClassVar[str | None] = "MoB"

    m: int | None = setting(None, "responses per bootstrap sample; none: the square root of their number, rounded")

    def check_settings(self) -> None:
        if self.m is not None and not 1 <= self.m <= LARGEST:
            raise SettingError(f"m must be at least 1 and at most {LARGEST}, not {self.m}")

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        ranks = ScoreRanks.of(pool)
        m = np.rint(np.sqrt(ranks.size)) if self.m is None else self.m
        share = (ranks.upto / ranks.size) ** m - (ranks.below / ranks.size) ** m
        return mean_where_missing(pool, share / ranks.ties, ranks.scored)
