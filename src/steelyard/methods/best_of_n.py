"""Best-of-N: the answer of the response with the highest score.

As weights: 1 for an answer's first response at the question's top score, 0 for all others.
Answers that share the top score are tied, and ties go to the higher total score. A response without a
score can never be the best: it only counts where no response of the question has one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.methods._base import Method
from steelyard.pool import Pool


@dataclass(repr=False)
class BestOfN(Method):
    """The single best score decides; without any score it is the majority vote.

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.1, 0.2, 0.9])
    >>> BestOfN().predict(pool).answer
    array([9], dtype=int32)
    """

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Return 1 where a response stands for an answer at the top score, else 0 [R]."""
        from steelyard import kernels

        weights = np.empty(pool.n_responses)
        kernels.best_weights(pool.starts, pool.width, pool.answer, pool.known_scores, weights)
        return weights
