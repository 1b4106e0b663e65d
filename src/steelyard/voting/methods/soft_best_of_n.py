"""Soft best-of-N: draw one response with probability proportional to exp(score / T).

    P(response i) = exp(p_i / T) / sum over the responses j of the question of exp(p_j / T)

Verdun et al., "Soft Best-of-n Sampling for Model Alignment", arXiv 2505.03156. T -> 0 is best-of-N, T -> infinity a
response at random. A vote must be the same each time, so the verdict is the answer that is drawn most often; at the
same T this is the verdict of `cisc`. What a real draw would get right needs no draws: `expected_accuracy`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import setting
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.question_weights import check_temperature, softmax_weights


@dataclass(repr=False, eq=False)
class SoftBestOfN(Method):
    """The answer most likely to be drawn, if responses are drawn in proportion to exp(score / temperature).

    A response without a score is drawn as often as the mean response of its question.

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.1, 0.2, 0.9])
    >>> SoftBestOfN().predict(pool).answer
    array([9], dtype=int32)
    """

    name: ClassVar[str] = "soft-best-of-n"
    only_by_name: ClassVar[bool] = True
    label: ClassVar[str | None] = "soft best-of-N"

    temperature: float = setting(0.1, "temperature of the softmax: small follows the top score, large counts votes")

    def check_settings(self) -> None:
        check_temperature(self.temperature)

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        return softmax_weights(pool, self.temperature)

    def expected_accuracy(self, pool: LabelledPool) -> NDArray[np.float64]:
        """Return the probability that a response drawn from each question is correct [Q]; 0 if none has an answer.

        >>> pool = Pool.from_arrays(question=[0, 0], answer=[4, 9], scores=[0.7, 0.6], correct=[True, False])
        >>> SoftBestOfN(temperature=0.1).expected_accuracy(pool).round(3)  # e / (e + 1)
        array([0.731])
        """
        self.check_pool(pool)
        weights = np.where(pool.readable, self.weights(pool), 0.0)
        correct, total = (np.add.reduceat(w, pool.starts[:-1]) for w in (weights * pool.correct, weights))
        return np.where(total > 0, correct / np.maximum(total, np.finfo(float).tiny), 0.0)
