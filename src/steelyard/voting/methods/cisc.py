"""CISC, confidence-informed self-consistency: the softmax of the scores of a question is the weight.

    w_i = exp(p_i / T) / sum over the responses j of the question of exp(p_j / T)

A small T follows the top score (best-of-N), a large T counts votes (majority vote). Taubenfeld et al., "Confidence
Improves Self-Consistency in LLMs", arXiv 2502.06233, tune T for each LLM and score on held-out questions. Here T is
the one that makes a correct answer most likely on the labelled questions of a fit:

    T = argmax of  sum over questions of log (summed weight of the correct responses)

Without labels, T is 0.1. The weights are scaled to a top weight of 1 per question, which changes no verdict.
A response without a score, which the published code leaves out, has the mean weight of its question.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import PlanError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import setting, within
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.question_weights import COLDEST, HOTTEST, check_temperature, softmax_weights

DEFAULT = 0.1
TEMPERATURES = tuple(round(float(t), 6) for t in np.logspace(-2.5, 1, 36))  # DEFAULT is one of them
FLAT = 1e-9  # a smaller gain in mean log-likelihood is rounding
SMALLEST = 1e-12  # a share below it counts as this, so that one question cannot decide the fit


@dataclass(repr=False, eq=False)
class CISCVote(Method):
    """Weight each response by the softmax of the scores of its question; labels choose the temperature.

    >>> pool = Pool.from_arrays(question=[0, 0, 0, 0], answer=[4, 4, 4, 9], scores=[0.6, 0.6, 0.6, 0.9])
    >>> CISCVote(temperature=0.2).predict(pool).answer, CISCVote(temperature=1.0).predict(pool).answer
    (array([9], dtype=int32), array([4], dtype=int32))
    """

    name: ClassVar[str] = "cisc"
    label: ClassVar[str | None] = "CISC"

    temperature: float | None = setting(None, "temperature of the softmax; none: fitted to labels, 0.1 without labels")

    temperature_: float = field(default=DEFAULT, init=False)

    def check_settings(self) -> None:
        if self.temperature is not None:
            check_temperature(self.temperature)

    def check_learned(self) -> None:
        if not within(COLDEST, HOTTEST, self.temperature_):
            raise PlanError("its temperature is damaged")

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        return softmax_weights(pool, self.temperature_ if self.temperature is None else self.temperature)

    def _learn(self, pool: Pool) -> None:
        self.temperature_ = DEFAULT
        if self.temperature is None and isinstance(pool, LabelledPool):
            likelihood = np.array([mean_log_share(pool, t) for t in TEMPERATURES])
            best = int(likelihood.argmax())
            if likelihood[best] > likelihood[TEMPERATURES.index(DEFAULT)] + FLAT:
                self.temperature_ = TEMPERATURES[best]


def mean_log_share(pool: LabelledPool, temperature: float) -> float:
    """Return the mean log share of the weight that is on correct responses, over questions with both kinds.

    >>> pool = Pool.from_arrays(question=[0, 0], answer=[4, 9], scores=[0.5, 0.5], correct=[True, False])
    >>> round(float(np.exp(mean_log_share(pool, 0.1))), 6)
    0.5
    """
    weights = np.where(pool.readable, softmax_weights(pool, temperature), 0.0)
    correct, total, n_correct, n = (
        np.add.reduceat(values, pool.starts[:-1])
        for values in (weights * pool.correct, weights, pool.correct.astype(np.int64), pool.readable.astype(np.int64))
    )
    mixed = (n_correct > 0) & (n_correct < n)
    if not mixed.any():
        return 0.0
    return float(np.log(np.maximum(correct[mixed] / total[mixed], SMALLEST)).mean())
