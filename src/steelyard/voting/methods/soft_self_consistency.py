"""Soft self-consistency: the answer whose responses score best on average wins, however many there are.

    winner = argmax over answers k of  aggregate of p_i over the responses i that gave k

with the mean, the minimum or the product, normalised for length as exp(mean log p). Wang et al., "Soft Self-Consistency
Improves Language Model Agents", arXiv 2402.13212, take the same three aggregates over the token probabilities of an
action, and the action with the best score. Equal actions have equal scores there. Here a score is that of a whole
response, and responses with equal answers may differ, so the aggregate is over the responses of an answer. (To
reduce the step scores of one response, name the reducer: --score prm:min.)

Votes only break ties. As weights: the aggregate for an answer's first response, 0 for the others.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SettingError, did_you_mean
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import setting
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import Pool
from steelyard.voting.question_weights import compared
from steelyard.voting.tally import answer_totals, quantize

AGGREGATES = ("mean", "min", "product")


@dataclass(repr=False, eq=False)
class SoftSelfConsistency(Method):
    """The answer with the best mean (or minimum, or product) of scores wins, whatever its votes.

    A response without a score is left out; an answer without any score has the mean score of its question.

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.6, 0.7, 0.8])
    >>> SoftSelfConsistency().predict(pool).answer
    array([9], dtype=int32)
    """

    name: ClassVar[str] = "soft-self-consistency"
    only_by_name: ClassVar[bool] = True
    label: ClassVar[str | None] = "soft self-consistency"

    aggregate: str = setting("mean", "how the scores of an answer become one: mean, min or product", AGGREGATES)

    def check_settings(self) -> None:
        if self.aggregate not in AGGREGATES:
            raise SettingError(f"aggregate is {self.aggregate!r:.40}: {did_you_mean(self.aggregate, AGGREGATES)}")

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        scored = compared(pool)
        p = np.where(scored, pool.known_scores, 0.0).astype(np.float64)
        offsets = np.cumsum(pool.width) - pool.width
        index: Ints = pool.spread(offsets) + pool.answer.astype(np.int64)  # of readable responses
        count = np.bincount(index[scored], minlength=int(pool.width.sum())).astype(np.float64)
        total, _ = answer_totals(pool, p)
        value = np.where(count > 0, self._aggregated(index[scored], p[scored], total, count), self._means(pool, total))
        rows = np.flatnonzero(pool.readable)[::-1]
        first = np.zeros(len(count), np.int64)
        first[index[rows]] = rows  # the last assignment holds: that of the first response
        weights = np.zeros(pool.n_responses)
        weights[first[index[rows]]] = value[index[rows]]
        return weights

    def _aggregated(
        self, answer: Ints, p: NDArray[np.float64], total: NDArray[np.float64], count: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the aggregate of the scores of every answer [K]; scores that are all equal have exactly their mean."""
        if self.aggregate == "mean":
            return np.asarray(total / np.maximum(count, 1))
        if self.aggregate == "min":
            lowest = np.full(len(count), np.inf)
            np.minimum.at(lowest, answer, p)
            return lowest
        zeros = np.bincount(answer, p == 0, len(count))
        logs = np.bincount(answer, quantize(np.log(np.where(p > 0, p, 1.0))), len(count))
        return np.where(zeros > 0, 0.0, np.exp(logs / np.maximum(count, 1)))

    @staticmethod
    def _means(pool: Pool, total: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean score of the question of every answer [K]; 0.5 if it has no scores."""
        question = np.repeat(np.arange(pool.n_questions), pool.width)
        count = np.add.reduceat(compared(pool).astype(np.float64), pool.starts[:-1])
        mean = np.bincount(question, total, pool.n_questions) / np.maximum(count, 1)
        return np.where(count > 0, mean, 0.5)[question]
