"""Weights that compare a score with the other scores of its question: softmax weights and ranks.

Only responses with an answer and a score are compared. What such a weight is for the others is up to the method;
most give a response without a score the mean weight of its question.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SettingError
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import Pool
from steelyard.voting.tally import quantize

COLDEST, HOTTEST = 1e-4, 1e4  # temperatures


def check_temperature(temperature: float) -> None:
    """Refuse a temperature that no softmax can be computed with."""
    if not COLDEST <= temperature <= HOTTEST:
        raise SettingError(f"temperature must lie between {COLDEST:g} and {HOTTEST:g}, not {temperature}")


def compared(pool: Pool) -> Bools:
    """Which responses have an answer and a score [R]."""
    return pool.readable & ~np.isnan(pool.known_scores)


def softmax_weights(pool: Pool, temperature: float) -> NDArray[np.float64]:
    """Return exp((p - p_max) / T) [R], p_max the top score of the question: its softmax, scaled to a top weight of 1.

    A response without a score has the mean weight of its question.

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.2, 0.2, 0.5])
    >>> softmax_weights(pool, 0.3).round(3)
    array([0.368, 0.368, 1.   ])
    """
    scored = compared(pool)
    p = np.where(scored, pool.known_scores, -np.inf).astype(np.float64)
    top = np.maximum.reduceat(p, pool.starts[:-1])
    top[np.isneginf(top)] = 0.0
    return mean_where_missing(pool, np.exp((p - pool.spread(top)) / temperature), scored)


def mean_where_missing(pool: Pool, weights: NDArray[np.float64], scored: Bools) -> NDArray[np.float64]:
    """Give responses that were not compared the mean weight of those in their question; 1 if there are none.

    Weights are rounded before they are summed, so that the mean does not depend on the order of the responses.
    """
    if scored.all():
        return weights
    rounded = np.where(scored, quantize(weights), 0.0)
    total = np.add.reduceat(rounded, pool.starts[:-1])
    count = np.add.reduceat(scored.astype(np.float64), pool.starts[:-1])
    mean = np.where(count > 0, total / np.maximum(count, 1), 1.0)
    return np.where(scored, rounded, pool.spread(mean))


@dataclass(frozen=True)
class ScoreRanks:
    """Where every score stands in its question. Equal scores share the ranks below + 1 .. upto."""

    scored: Bools  # [R] which responses are ranked
    below: Ints  # [R] responses with a lower score
    upto: Ints  # [R] responses with a score that is at most as high
    size: Ints  # [R] ranked responses of the question, at least 1

    @staticmethod
    def of(pool: Pool) -> ScoreRanks:
        """Rank the responses of every question, the lowest score first."""
        from steelyard.voting import kernels

        below, upto = np.empty(pool.n_responses, np.int64), np.empty(pool.n_responses, np.int64)
        size = np.empty(pool.n_questions, np.int64)
        kernels.score_ranks(pool.starts, pool.answer, kernels.read_only(pool.known_scores), below, upto, size)
        return ScoreRanks(upto > 0, below, upto, pool.spread(np.maximum(size, 1)))

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean rank of a response among those with its score [R]: 1 is the lowest."""
        return np.asarray((self.below + 1 + self.upto) / 2)

    @property
    def ties(self) -> Ints:
        """How many responses have this score [R], at least 1."""
        return np.asarray(np.maximum(self.upto - self.below, 1))
