"""Vanilla weighted vote: the raw score is the weight, w(p) = p.

A missing score weighs the mean score of the calibration set or, when the vote was never fitted,
the mean of its question. Several scores are read as one, the mean of their logits, or, with mix="covariance", mixed by
what they have in common over the responses of the fit, which needs no labels (fitting/covariance_mix.py).
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import CalibrationError, PlanError, SettingError, did_you_mean
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import setting, within
from steelyard.voting.on_demand.bounds import AnswerBounds, within_range
from steelyard.voting.pools.pool import Pool

if TYPE_CHECKING:
    from steelyard.voting.fitting.mixing import Mix

MIXES = ("mean", "covariance")


@dataclass(repr=False, eq=False)
class VanillaVote(Method):
    """Sum the scores of each answer; the largest sum wins.

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.3, 0.4, 0.6])
    >>> VanillaVote().predict(pool).answer
    array([4], dtype=int32)
    """

    name: ClassVar[str] = "vanilla"
    votes_on_similar: ClassVar[bool] = True
    colour: ClassVar[str | None] = "#56b4e9"

    added: ClassVar[tuple[str, ...]] = ("mix",)

    mix: str = setting(
        "mean", "several scores made one: mean (of logits), or covariance, by what they have in common", MIXES
    )

    prior_: float | None = field(default=None, init=False)

    def check_settings(self) -> None:
        if self.mix not in MIXES:
            raise SettingError(f"mix is {self.mix!r:.40}: {did_you_mean(self.mix, MIXES)}")

    def check_pool(self, pool: Pool) -> None:
        super().check_pool(pool)
        if self.mix != "mean" and self.mix_ is None:
            raise CalibrationError(f"mix={self.mix} is learned from responses, with or without labels: fit it first")

    def check_learned(self) -> None:
        if self.prior_ is not None and not within(0, 1, self.prior_):
            raise PlanError("its prior is no score")

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        p = np.asarray(pool.known_scores, np.float64)
        missing = np.isnan(p)
        if not missing.any():
            return p
        return np.where(missing, self._prior(pool, missing), p)

    def by_response(self) -> bool:
        return self.prior_ is not None

    def _bounds(self, pool: Pool) -> AnswerBounds:
        if self.prior_ is None and pool.scored is not None:  # the mean of its question is open, too
            pool = replace(pool, scored=pool.scored & ~np.isnan(pool.known_scores))
        return within_range(pool, self.weigh(pool), [0.0, 1.0])

    def weight(self, score: float) -> float:
        return self.prior_ if np.isnan(score) and self.prior_ is not None else float(score)

    def _learn(self, pool: Pool) -> None:
        p = np.asarray(pool.known_scores, np.float64)
        voting = p[pool.readable & ~np.isnan(p)]
        self.prior_ = float(voting.mean() if len(voting) else np.nanmean(p))

    def _label_free_mix(self, pool: Pool) -> "Mix | None":
        if self.mix == "mean":
            return super()._label_free_mix(pool)
        from steelyard.voting.fitting.covariance_mix import covariance_mix

        return covariance_mix(pool)

    def _prior(self, pool: Pool, missing: NDArray[np.bool_]) -> float | NDArray[np.float64]:
        if self.prior_ is not None:
            return self.prior_
        count = np.add.reduceat((~missing).astype(np.float64), pool.starts[:-1])
        total = np.add.reduceat(np.where(missing, 0.0, pool.known_scores), pool.starts[:-1])
        mean: NDArray[np.float64] = np.where(count > 0, total / np.maximum(count, 1), 0.5)
        return pool.spread(mean)
