"""The default: choose the answer that its votes and its evidence make most likely.

    P(answer k is the right one) = softmax_k ( votes log n_k + best max z_i + sum_i (slope z_i - offset) / N )

over the responses i that gave answer k, z = logit of the score. Majority vote (votes alone), best-of-N (best
alone) and the paper's logit vote (slope and offset alone, with its negative weights) are special cases; the
calibration questions say how much of each. How far to trust the scores at all is cross-validated: the penalty
on everything but the votes is as heavy as the data allow, and an infinite one is the majority vote.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Floats
from steelyard.calibration.choice import PENALTIES, Theta, chances, choice, cross_validate
from steelyard.calibration.confidence import Judge, held_out
from steelyard.calibration.lines import snap
from steelyard.calibration.slate import FEATURES, gathered, slate
from steelyard.errors import PlanError, SettingError
from steelyard.methods._base import Method
from steelyard.pool import LabelledPool, Pool
from steelyard.tally import tally
from steelyard.verdicts import Verdicts
from steelyard.weights import logit


@dataclass(repr=False)
class CalibratedVote(Method):
    """A missing score counts as the mean evidence of the calibration set.

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.1, 0.2, 0.9])
    >>> vote = CalibratedVote.of(votes=1.0, best=1.0)
    >>> vote.predict(pool).answer, vote.weight(0.9) > 0 > vote.weight(0.1)
    (array([9], dtype=int32), True)
    """

    learns: ClassVar[bool] = True

    folds: int = 5
    errors: float = 0.5  # standard errors of likelihood that a heavier penalty may cost
    clip: float = logit.CLIP
    seed: int = 0

    votes_: float = field(default=1.0, init=False)
    best_: float = field(default=0.0, init=False)
    slope_: float = field(default=0.0, init=False)
    offset_: float = field(default=0.0, init=False)
    prior_: float = field(default=0.0, init=False)  # evidence of a missing score
    penalty_: float = field(default=np.inf, init=False)
    judge_: NDArray[np.float64] | None = field(default=None, init=False)  # calibration/confidence.py

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Hand every answer's total out to its responses: the evidence to each, votes and best in equal parts."""
        from steelyard import kernels

        z = self._evidence(pool.known_scores)
        offsets, n, _, top = gathered(pool, z)
        extra = (self.votes_ * np.log(np.maximum(n, 1)) + self.best_ * top) / np.maximum(n, 1)
        weights = np.empty(pool.n_responses)
        kernels.hand_out(pool.starts, offsets, pool.answer, z, self.slope_, -self.offset_, extra, weights)
        return weights

    def weight(self, score: float) -> float:
        """Return what a lone response with this score makes of its answer, among N as fitted."""
        z = float(self._evidence(np.array([score]))[0])
        size = self.fitted_on_.n if self.fitted_on_ else 1
        return self.best_ * z + (self.slope_ * z - self.offset_) / size

    def _evidence(self, p: Floats) -> NDArray[np.float64]:
        z = logit.evidence(p, self.clip)
        return snap(np.where(np.isnan(z), self.prior_, z))

    def _decide(self, pool: Pool) -> Verdicts:
        verdicts = tally(pool, self.weigh(pool))
        if self.judge_ is None:
            return verdicts
        answers = slate(pool, self._evidence(pool.known_scores))
        return verdicts.believed(Judge(self.judge_).believe(answers, chances(answers, self.theta), pool.n_questions))

    @property
    def theta(self) -> Theta:
        """The four coefficients, in the order of the features."""
        return np.array([self.votes_, self.best_, self.slope_, -self.offset_])

    def _learn(self, pool: Pool) -> None:
        labelled = cast(LabelledPool, pool)
        p = labelled.known_scores
        z = logit.evidence(p, self.clip)
        self.prior_ = float(snap(z[labelled.readable & ~np.isnan(z)].mean()))
        answers = slate(labelled, self._evidence(p))
        fold = np.random.default_rng(self.seed).permutation(pool.n_questions)[pool.rank] % self.folds
        mine = fold[answers.question]
        self.penalty_ = cross_validate(answers, mine, self.errors)
        self.votes_, self.best_, self.slope_, offset = choice(answers, self.penalty_).tolist()
        self.offset_ = -offset
        self.judge_ = Judge.fit(answers, held_out(answers, mine, self.penalty_)).values

    def check_settings(self) -> None:
        logit.check_clip(self.clip)
        if self.folds < 2:
            raise SettingError(f"folds must be 2 or more, not {self.folds}")
        if not 0 <= self.errors < np.inf:
            raise SettingError(f"errors must be 0 or more, not {self.errors}")

    def check_learned(self) -> None:
        if not np.isfinite((*self.theta, self.prior_)).all() or self.penalty_ not in PENALTIES:
            raise PlanError("its coefficients are damaged")
        Judge.check(self.judge_)

    def summary(self) -> dict[str, Any]:
        return {**super().summary(), **dict(zip(FEATURES, self.theta.tolist(), strict=True)), "penalty": self.penalty_}

    @classmethod
    def of(cls, *, votes: float = 1.0, best: float = 0.0, slope: float = 0.0, offset: float = 0.0) -> CalibratedVote:
        """Make one by hand, fitted on nothing."""
        from steelyard.plan import Provenance

        vote = cls()
        vote.votes_, vote.best_, vote.slope_, vote.offset_ = votes, best, slope, offset
        vote.fitted_on_ = Provenance(1, None, None, None, 1, 1, None, None)
        return vote
