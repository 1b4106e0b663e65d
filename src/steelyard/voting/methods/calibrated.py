"""The default: choose the answer that its votes and its evidence make most likely.

    P(answer k is the right one) =
        softmax_k ( votes log n_k + mean log mean_i p_i + best max z_i + sum_i (slope z_i - offset) / N )

over the responses i that gave answer k, p the score and z its logit. Majority vote (votes alone), vanilla weighted
vote (votes and mean alike), best-of-N (best alone) and the paper's logit vote (slope and offset alone, with its
negative weights) are special cases; the calibration questions say how much of each, starting from the majority vote
(fitting/conditional_logit.py). Where held-out questions do not show that the scores help, the plan is the majority
vote (fitting/score_evidence.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import CalibrationError, PlanError
from steelyard.voting.confidence.answer_probabilities import AnswerProbabilities, answer_probabilities
from steelyard.voting.confidence.answer_sets import (
    NEVER_SAMPLED,
    AnswerSetThreshold,
    answer_set_threshold,
    probability_of_correct,
)
from steelyard.voting.confidence.correctness_model import (
    CorrectnessBySamples,
    crossfit_probabilities,
    winners_correct,
)
from steelyard.voting.fitting.conditional_logit import (
    FEATURES,
    MAJORITY,
    PENALTIES,
    AnswerSums,
    Theta,
    answer_features,
    answer_sums,
    choice_probabilities,
    cross_validate,
    fit_conditional_logit,
    fit_votes,
)
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.fitting.score_evidence import GAIN, REPEATS, ScoreEvidence, score_evidence
from steelyard.voting.methods.base.assessable import Assessable
from steelyard.voting.methods.base.plan import LARGE
from steelyard.voting.methods.base.reserve import RiskControlled, check_held_out, check_reserve
from steelyard.voting.methods.base.setting import (
    FARTHEST,
    check_folds,
    check_seed,
    setting,
    within,
)
from steelyard.voting.on_demand.bounds import AnswerBounds
from steelyard.voting.pools.arrays import Floats
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.scores import CLIP, expit
from steelyard.voting.pools.verdicts import Verdicts
from steelyard.voting.score_weights import check_clip, clipped_logit
from steelyard.voting.tally import quantize, quantize_known


@dataclass(repr=False, eq=False)
class CalibratedVote(RiskControlled, Assessable):
    """Choose the answer that votes and scores together make most likely; the default.

    A missing score counts as the mean evidence of the calibration set.

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.1, 0.2, 0.9])
    >>> vote = CalibratedVote.of(votes=1.0, best=1.0)
    >>> vote.predict(pool).answer, vote.weight(0.9) > vote.weight(0.1)
    (array([9], dtype=int32), True)
    """

    name: ClassVar[str] = "calibrated"
    colour: ClassVar[str | None] = "#d55e00"
    learns: ClassVar[bool] = True
    votes_on_similar: ClassVar[bool] = True
    counts_similar: ClassVar[bool] = True
    fits_majority: ClassVar[bool] = True
    added: ClassVar[tuple[str, ...]] = ("reserved_answer_p_",)

    folds: int = setting(5, "parts of the cross-validation that chooses the penalty")
    se_tolerance: float = setting(0.5, "standard errors of likelihood that a heavier penalty may cost")
    clip: float = setting(CLIP, "minimum distance of a score from 0 and 1")
    seed: int = setting(0, "random seed of the fit")
    reserve: float = setting(0.0, "share of the questions reserved for vote --risk and --answer-sets")

    votes_: float = field(default=1.0, init=False)
    mean_: float = field(default=0.0, init=False)
    best_: float = field(default=0.0, init=False)
    slope_: float = field(default=0.0, init=False)
    offset_: float = field(default=0.0, init=False)
    prior_: float = field(default=0.0, init=False)  # evidence of a missing score
    penalty_: float = field(default=np.inf, init=False)
    correctness_: NDArray[np.float64] | None = field(default=None, init=False)  # confidence/correctness_model.py
    harmful_response_share_: float = field(default=0.0, init=False)  # share of responses that harm their answer
    evidence_: float = field(default=0.0, init=False)  # that the scores help (fitting/score_evidence.py), with
    wins_: float = field(default=0.0, init=False)  # the held-out verdicts that they corrected
    losses_: float = field(default=0.0, init=False)  # and those that they spoilt
    changed_: float = field(default=0.0, init=False)  # calibration verdicts that differ from the majority vote's
    out_of_fold_confidence_: NDArray[np.float64] | None = field(
        default=None, init=False
    )  # confidence in verdicts on other folds, and
    out_of_fold_correct_: NDArray[np.float64] | None = field(default=None, init=False)  # what was right
    reserved_confidence_: NDArray[np.float64] | None = field(
        default=None, init=False
    )  # the same of the reserved questions
    reserved_correct_: NDArray[np.float64] | None = field(default=None, init=False)
    reserved_answer_p_: NDArray[np.float64] = field(
        default_factory=lambda: np.empty(0), init=False
    )  # probability of their correct answers (confidence/answer_sets.py)

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Hand every answer's total out to its responses: the evidence to each, the rest in equal parts."""
        from steelyard.voting import kernels

        z = self._logits(pool.known_scores)
        sums = answer_sums(pool, z)
        if pool.similarity is not None:
            return self._weigh_similar(pool, sums)
        n = np.maximum(sums.n, 1)
        mean = np.where(sums.n > 0, sums.score_sum, 1.0) / n
        extra = self.votes_ * np.log(n) + self.mean_ * np.log(mean) + self.best_ * (sums.logit_max - self.prior_)
        weights = np.empty(pool.n_responses)
        kernels.hand_out(pool.starts, sums.offsets, pool.answer, z, self.slope_, -self.offset_, extra / n, weights)
        return weights

    def _weigh_similar(self, pool: Pool, sums: AnswerSums) -> NDArray[np.float64]:
        """Hand every answer's total out to its responses in equal parts; it contains what similar answers add."""
        n, size = np.maximum(sums.n, 1.0), np.repeat(pool.sizes, pool.width)
        mean = np.where(sums.votes > 0, sums.score_sum, 1.0) / n
        total = self.votes_ * np.log(n) + self.mean_ * np.log(mean) + self.best_ * (sums.logit_max - self.prior_)
        total += (self.slope_ * sums.logit_sum - self.offset_ * n) / size
        rows = np.flatnonzero(pool.readable)
        index = (pool.spread(sums.offsets) + pool.answer)[rows]
        weights = np.zeros(pool.n_responses)
        weights[rows] = (total / np.maximum(sums.votes, 1))[index]
        return weights

    def _bounds(self, pool: Pool) -> AnswerBounds | None:
        edge = float(clipped_logit(np.array([1.0]), self.clip)[0])
        if min(self.mean_, self.best_, self.slope_) < 0 or abs(self.prior_) > edge:
            return None  # no fit finds this: more evidence would count against an answer
        unread = np.zeros(pool.n_responses, bool) if pool.scored is None else ~pool.scored
        ends = [replace(pool, scores=np.where(unread, end, pool.known_scores), scored=None) for end in (0.0, 1.0)]
        return AnswerBounds(self.weigh(ends[0]), self.weigh(ends[1]))

    def weight(self, score: float) -> float:
        """Return what one more response with this score adds to an answer.

        The answer has a quarter of the N samples of the fit, the best of them with the mean evidence.
        """
        z = float(self._logits(np.array([score]))[0])
        size = self.fitted_on_.n if self.fitted_on_ else 1
        quarter, above = size / 4, float(expit(z) / expit(self.prior_))
        adds = self.votes_ * np.log1p(1 / quarter) + self.mean_ * np.log((quarter + above) / (quarter + 1))
        adds += self.best_ * max(0.0, z - self.prior_)
        return float(adds + (self.slope_ * z - self.offset_) / size)

    def _logits(self, p: Floats) -> NDArray[np.float64]:
        z = clipped_logit(p, self.clip)
        return quantize_known(z, self.prior_)

    def _p_correct(self, verdicts: Verdicts) -> NDArray[np.float64] | None:
        if self.correctness_ is None:
            return None
        pool = verdicts.pool
        answers = answer_features(pool, self._logits(pool.known_scores))
        return CorrectnessBySamples.of(self.correctness_).predict_p_correct(
            answers, choice_probabilities(answers, self.theta), pool.sizes
        )

    def _answer_probabilities(self, pool: Pool) -> AnswerProbabilities | None:
        if self.correctness_ is None:
            return None
        answers = answer_features(pool, self._logits(pool.known_scores))
        chance = choice_probabilities(answers, self.theta)
        return answer_probabilities(CorrectnessBySamples.of(self.correctness_), answers, chance, pool)

    def answer_sets(self, alpha: float) -> AnswerSetThreshold:
        if not self.questions_reserved():
            raise CalibrationError(
                "this plan reserved no questions, and answer sets are calibrated on questions the vote has not learned "
                "from: fit it again with reserve=0.5 (steelyard fit --set reserve=0.5)"
            )
        return answer_set_threshold(self.reserved_answer_p_, alpha)

    def _learn_from_reserved(self, labelled: LabelledPool) -> None:
        probabilities = self._answer_probabilities(labelled.unlabelled())
        if probabilities is not None:
            self.reserved_answer_p_ = probability_of_correct(probabilities, labelled)

    @property
    def theta(self) -> Theta:
        """The coefficients, in the order of the features."""
        return np.array([self.votes_, self.mean_, self.best_, self.slope_, -self.offset_])

    def _learn(self, pool: Pool) -> None:
        self.reserved_answer_p_ = np.empty(0)
        self._fit_choice(cast(LabelledPool, pool))
        self.gains_ = {}

    def _fit_choice(self, pool: LabelledPool) -> None:
        p = pool.known_scores
        z = clipped_logit(p, self.clip)
        self.prior_ = float(quantize(z[pool.readable & ~np.isnan(z)].mean()))
        answers = answer_features(pool, self._logits(p))
        fold = fold_of(pool, self.folds, self.seed)
        penalty = cross_validate(answers, fold[answers.question], self.se_tolerance)
        others = [fold_of(pool, self.folds, self.seed + 1 + repeat) for repeat in range(REPEATS)]
        evidence = score_evidence(answers, penalty, others, pool.n_questions)
        self.evidence_, self.wins_, self.losses_ = evidence.nats, evidence.wins, evidence.losses
        self.penalty_ = penalty if evidence.helps else np.inf
        fit = partial(fit_conditional_logit, penalty=self.penalty_) if evidence.helps else fit_votes
        self._set(fit(answers))
        winners, by_majority = (answers.winners(answers.x @ theta) for theta in (self.theta, MAJORITY))
        self.changed_ = float(answers.differ(winners, by_majority).sum())
        thetas = [fit(answers.take(fold[answers.question] != k)) for k in range(self.folds)]
        by_samples, chance = (
            CorrectnessBySamples.fit(pool, self._logits, fold, thetas),
            crossfit_probabilities(answers, fold, thetas),
        )
        self.correctness_ = by_samples.values
        self.out_of_fold_confidence_ = by_samples.predict_p_correct(answers, chance, pool.sizes)
        self.out_of_fold_correct_ = winners_correct(answers, chance, pool.n_questions).astype(np.float64)
        self.harmful_response_share_ = self._harmful_response_share(pool)

    def _set(self, theta: Theta) -> None:
        self.votes_, self.mean_, self.best_, self.slope_, offset = theta.tolist()
        self.offset_ = -offset

    def _harmful_response_share(self, pool: Pool) -> float:
        """The share of responses without which their answer would stand better."""
        z = self._logits(pool.known_scores)
        sums = answer_sums(pool, z)
        index = np.where(pool.readable, pool.spread(sums.offsets) + pool.answer, 0)
        best = pool.readable & (z == sums.logit_max[index])
        alone = best & (np.bincount(index[best], minlength=len(sums.n))[index] == 1)  # without the best one it falls
        beside = pool.readable & (sums.n[index] > 1) & ~alone
        n, score_sum = np.asarray(sums.n, np.float64)[index[beside]], sums.score_sum[index[beside]]
        adds = (self.votes_ - self.mean_) * np.log(n / (n - 1))
        adds -= self.mean_ * np.log1p(-expit(z[beside]) / score_sum)
        adds += (self.slope_ * z[beside] - self.offset_) / pool.spread(pool.sizes)[beside]
        return float((adds < 0).sum() / max(1, pool.readable.sum()))

    @property
    def votes_by_majority(self) -> bool:
        """Whether the scores were found useless: the verdicts are those of the majority vote."""
        return not (self.mean_ or self.best_ or self.slope_)

    def described(self) -> str:
        learned_on = self.fitted_on_.questions - self.questions_reserved() if self.fitted_on_ else 0
        if self.votes_by_majority:
            evidence = ScoreEvidence(self.evidence_, self.wins_, self.losses_, learned_on)
            return (
                "these scores do not help, so the plan votes by majority; with about "
                f"{evidence.more_labels:,} more labels a gain of {100 * GAIN:g} points could be detected"
            )
        changes = f"the plan changes {self.changed_:,.0f} of {learned_on:,} verdicts of the majority vote"
        if self.harmful_response_share_ < 0.005:
            return f"votes and scores count together, hardly any response counts against its answer, and {changes}"
        return (
            f"votes and scores count together, {100 * self.harmful_response_share_:.1f} % of the calibration responses "
            f"count against their answer, and {changes}"
        )

    def check_settings(self) -> None:
        check_clip(self.clip)
        check_folds(self.folds, self.se_tolerance)
        check_seed(self.seed)
        check_reserve(self.reserve)

    def check_learned(self) -> None:
        if not within(-LARGE, LARGE, self.theta) or self.penalty_ not in PENALTIES:
            raise PlanError("its coefficients are damaged")
        if not within(-FARTHEST, FARTHEST, self.prior_):
            raise PlanError("its prior is not the logit of a score")
        if not within(0, LARGE, self.wins_, self.losses_, self.changed_) or not within(-LARGE, LARGE, self.evidence_):
            raise PlanError("its evidence that the scores help is damaged")
        if not within(0, 1, self.harmful_response_share_) or not all(
            isinstance(gain, float) for gain in self.gains_.values()
        ):
            raise PlanError("what it gained is damaged")
        CorrectnessBySamples.of(self.correctness_)
        check_held_out(*self._held_out())
        reserved = 0 if self.reserved_confidence_ is None else len(self.reserved_confidence_)
        complete = len(self.reserved_answer_p_) in (0, reserved)
        if not complete or not within(NEVER_SAMPLED, 1, self.reserved_answer_p_):
            raise PlanError("its probabilities of correct answers are damaged")

    def summary(self) -> dict[str, Any]:
        return {
            **super().summary(),
            **dict(zip(FEATURES, self.theta.tolist(), strict=True)),
            "penalty": self.penalty_ if np.isfinite(self.penalty_) else "inf",
        }

    @classmethod
    def of(
        cls,
        *,
        votes: float = 1.0,
        mean: float = 0.0,
        best: float = 0.0,
        slope: float = 0.0,
        offset: float = 0.0,
    ) -> CalibratedVote:
        """Make one by hand, fitted on nothing: it votes, but has no confidence and is no plan to save."""
        from steelyard.voting.methods.base.provenance import Provenance

        vote = cls()
        vote._set(np.array([votes, mean, best, slope, -offset]))
        vote.fitted_on_ = Provenance(1, None, None, None, 1, 1, None, None)
        return vote
