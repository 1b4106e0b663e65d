"""A response weighs its probability of being right, less a threshold: w(p) = P(right | p) - t.

P is Platt's probability, or an isotonic curve shrunk to it where scores have an odd scale. With t = 0 every
response speaks for its answer, the more the likelier it is right; a larger t lets weak responses count
against theirs. t is chosen by cross-validation on the calibration questions and taken as small as the data
allow (one standard error), so negative weights come in only where they pay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import PlanError, SettingError, did_you_mean
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.fitting.offset_curve import lines
from steelyard.voting.fitting.probability_curves import platt, shrunk_isotonic
from steelyard.voting.methods.base.guarded import Guarded
from steelyard.voting.methods.base.plan import LARGE, SMALL
from steelyard.voting.methods.base.setting import check_folds, check_seed, setting, within
from steelyard.voting.on_demand.bounds import AnswerBounds, within_range
from steelyard.voting.pools.arrays import Bools, Floats
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.scores import CLIP, expit
from steelyard.voting.score_weights import check_clip, clipped_logit
from steelyard.voting.tally import quantize, quantize_known

CURVES = ("platt", "isotonic")
NARROW, WIDE = SMALL, 1e9  # spreads of the evidence: of scores that are all the same it is what rounding leaves
THRESHOLDS = np.linspace(0, 0.95, 39)


@dataclass(repr=False, eq=False)
class PlattVote(Guarded):
    """Weight each response by its probability of being correct minus a threshold.

    A missing score has the share of correct responses in the calibration set for its probability.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> vote = sy.paper.PlattVote().fit(cal)
    >>> vote.weight(0.9) > vote.weight(0.1)
    True
    """

    name: ClassVar[str] = "platt"
    colour: ClassVar[str | None] = "#f0a070"
    learns: ClassVar[bool] = True

    curve: str = setting("platt", "how a score becomes a probability: platt or isotonic", CURVES)
    folds: int = setting(10, "parts of the cross-validation that chooses the threshold")
    se_tolerance: float = setting(1.0, "how many standard errors of accuracy a smaller threshold is worth")
    clip: float = setting(CLIP, "minimum distance of a score from 0 and 1")
    seed: int = setting(0, "random seed of the fit")

    intercept_: float = field(default=0.0, init=False)
    slope_: float = field(default=0.0, init=False)
    centre_: float = field(default=0.0, init=False)
    scale_: float = field(default=1.0, init=False)
    prior_: float = field(default=0.0, init=False)
    scores_: NDArray[np.float64] | None = field(default=None, init=False)  # the isotonic curve: scores
    shares_: NDArray[np.float64] | None = field(default=None, init=False)  # and their probabilities
    threshold_: float = field(default=0.0, init=False)
    gain_: float = field(default=0.0, init=False)  # cross-validated, of the threshold over 0
    gain_error_: float = field(default=0.0, init=False)

    def probability(self, p: Floats) -> NDArray[np.float64]:
        """How likely a response with this score is right."""
        x = (clipped_logit(p, self.clip) - self.centre_) / self.scale_
        probability = expit(self.intercept_ + self.slope_ * x)
        if self.curve == "isotonic":
            probability = np.where(
                np.isnan(x), np.nan, np.interp(p, self._fitted(self.scores_), self._fitted(self.shares_))
            )
        return quantize_known(probability, self.prior_)

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        return self._guarded(self.probability(pool.known_scores) - self.threshold_)

    def by_response(self) -> bool:
        return True

    def _bounds(self, pool: Pool) -> AnswerBounds | None:
        ends = self.probability(np.array([0.0, 1.0, np.nan]))
        if self.curve == "isotonic":
            ends = np.concatenate((ends, quantize(self._fitted(self.shares_))))
        return self._guarded_bounds(pool, within_range(pool, self.weigh(pool), ends - self.threshold_))

    def weight(self, score: float) -> float:
        return float(self._guarded(self.probability(np.array([score])) - self.threshold_)[0])

    @staticmethod
    def _fitted(values: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return cast(NDArray[np.float64], values)

    def check_settings(self) -> None:
        check_clip(self.clip)
        if self.curve not in CURVES:
            raise SettingError(f"unknown curve {self.curve!r}: {did_you_mean(self.curve, CURVES)}")
        check_folds(self.folds, self.se_tolerance)
        check_seed(self.seed)

    def check_learned(self) -> None:
        scores, shares = self.scores_, self.shares_
        line = (self.intercept_, self.slope_, self.centre_, self.gain_, self.gain_error_)
        if scores is None or shares is None or len(scores) != len(shares) or not len(scores):
            raise PlanError("its curve is damaged")
        shared = (self.prior_, self.threshold_, scores, shares)
        if not within(-LARGE, LARGE, *line) or not within(0, 1, *shared) or (np.diff(scores) < 0).any():
            raise PlanError("its probabilities are damaged")
        if not within(NARROW, WIDE, self.scale_):
            raise PlanError("its probabilities are damaged")

    def _learn(self, pool: Pool) -> None:
        labelled = cast(LabelledPool, pool)
        is_correct = self._cross_validated(labelled)
        self._fit_probability(labelled)
        mean = is_correct.mean(axis=1)
        best = int(mean.argmax())
        behind = is_correct[best].astype(np.float64) - is_correct
        error = behind.std(axis=1, ddof=1) / np.sqrt(labelled.n_questions)
        chosen = int(np.flatnonzero(behind.mean(axis=1) <= self.se_tolerance * error)[0])
        self.threshold_ = float(quantize(THRESHOLDS[chosen]))
        gain = is_correct[chosen].astype(np.float64) - is_correct[0]
        self.gain_ = float(gain.mean())
        self.gain_error_ = float(gain.std(ddof=1) / np.sqrt(len(gain)))

    def _fit_probability(self, pool: LabelledPool) -> None:
        usable = pool.readable & ~np.isnan(pool.known_scores)
        z = clipped_logit(pool.known_scores[usable], self.clip)
        self.centre_, self.scale_ = float(z.mean()), float(z.std()) or 1.0
        correct = pool.correct
        self.prior_ = float(quantize(correct[pool.readable].mean()))
        x = (z - self.centre_) / self.scale_
        self.intercept_, self.slope_ = platt(x, correct[usable])
        smooth = expit(self.intercept_ + self.slope_ * x)
        self.scores_, self.shares_ = shrunk_isotonic(pool.known_scores[usable], correct[usable], smooth)

    def _cross_validated(self, pool: LabelledPool) -> Bools:
        """Which questions each threshold gets right [T, Q], each decided by a fit on the other folds."""
        fold = fold_of(pool, self.folds, self.seed)
        is_correct = np.zeros((len(THRESHOLDS), pool.n_questions), bool)
        for k in range(self.folds):
            mine = np.flatnonzero(fold == k)
            rest = pool.take(np.flatnonzero(fold != k))
            if not len(mine) or not _both(rest):
                continue
            self._fit_probability(rest)
            held = pool.take(mine)
            evidence = lines(held, self.probability(held.known_scores), held.known_scores)
            top = evidence.top
            correct = evidence.correct_at(THRESHOLDS)
            correct[top <= THRESHOLDS] = False
            is_correct[:, mine] = correct
        return is_correct


def _both(pool: LabelledPool) -> bool:
    correct = pool.correct[pool.readable]
    return bool(correct.any() and not correct.all())
