"""Replay scoring on demand on calibration questions, with cross-fitting: each question by a fit on the other folds.

    loss(margin) = mean over questions of  P(verdict with all scores) - P(verdict with those asked)

P: the probability of an answer given all scores, from the totals of fits on the other folds.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import CalibrationError, SettingError, SteelyardWarning
from steelyard.voting.fitting.conditional_logit import log_likelihood
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.fitting.probability_curves import log_odds_line
from steelyard.voting.fitting.solvers import maximise, ridge
from steelyard.voting.methods.base.calibration_checks import FEWEST_QUESTIONS
from steelyard.voting.methods.base.method import Method
from steelyard.voting.on_demand.asking import Asking, Filling, log_odds, verdict_was_read, vote_odds
from steelyard.voting.on_demand.base_rule import AskingRule, answer_totals, replay
from steelyard.voting.on_demand.readings import Readings, readings, texts_scored
from steelyard.voting.on_demand.rules.exact import Exact
from steelyard.voting.on_demand.rules.expected import Expected
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import LabelledPool

FOLDS = 5
SHARPEST = 1e3
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class CrossfitReplay:
    """A method fitted without each fold, the parameters of missing scores, and the figures with all scores."""

    pool: LabelledPool  # with one score per response
    fold: Ints  # [Q]
    voters: list[Method]  # by the fold they were not fitted on
    start: Asking
    full: Readings
    probability: Vector  # [K] of every answer, by all scores

    @classmethod
    def of(cls, method: Method, pool: LabelledPool, *, seed: int = 0) -> CrossfitReplay:
        """Fit a fitted method again without each fold of the pool it was fitted on."""
        if method.oracle or not method.reads_scores():
            raise SettingError(f"{method.name} reads no scores to ask for: fit a plan that does, such as calibrated")
        one = method.mixed(pool)
        fold = fold_of(one, FOLDS, seed)
        voters = [_fitted(method, one, fold != k) for k in range(FOLDS)]
        fill = Filling.learn(one)
        filling = fill.level, fill.by_share, fill.between, fill.within
        start = Asking(*filling, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
        full = readings(one.unlabelled())
        totals = _totals(voters, one, fold, full)
        start = replace(start, sharpness=_sharpness(one, full, totals))
        log_odds = start.sharpness * totals
        odds = np.exp(log_odds - full.top(log_odds))
        probability = odds / np.repeat(np.add.reduceat(odds, full.starts), full.sizes)
        return cls(one, fold, voters, start, full, probability)

    def replayed(self, margin: float) -> tuple[Asking, LabelledPool, NDArray[np.int32]]:
        """Replay a margin; return its loss and cost, the pool with the scores it asks for, and the verdicts [Q]."""
        pool, asking = self.pool, replace(self.start, margin=margin)
        seen, verdict = _replayed(Expected(), self.voters, pool, self.fold, asking)
        best = np.maximum.reduceat(self.probability, self.full.starts)
        loss = float((best - _of(self.full, self.probability, verdict, pool)).sum() / pool.n_questions)
        return replace(asking, loss=loss, scored=float(texts_scored(seen).mean() / pool.sizes.mean())), seen, verdict

    def with_confidence(self, asking: Asking, seen: LabelledPool) -> Asking:
        """Learn the confidence of verdicts with partial scores, from both rules' cross-fitted verdicts."""
        both = [_outcomes(self, asking, pool) for pool in (seen, *self._exact(asking))]
        if any(part is None for part in both):
            return asking
        by_model, by_votes, read, correct = (np.concatenate(column) for column in zip(*filter(None, both), strict=True))
        intercept, slope = log_odds_line(by_model[read], correct[read])
        unread, unread_slope = log_odds_line(by_votes[~read], correct[~read])
        learned = replace(asking, read_intercept=intercept, read_slope=slope)
        return replace(learned, unread_intercept=unread, unread_slope=unread_slope)

    def _exact(self, asking: Asking) -> list[LabelledPool]:
        """Return the pool with the scores that `exact` asks for, if the method has bounds."""
        try:
            Exact().check(self.voters[0])
        except SettingError:
            return []
        return [_replayed(Exact(), self.voters, self.pool, self.fold, asking)[0]]


def _fitted(method: Method, pool: LabelledPool, seen: NDArray[np.bool_]) -> Method:
    """Fit the method on some questions; a method that learns nothing is only copied."""
    voter = copy.deepcopy(method)
    voter.mix_ = None  # the scores are mixed already
    if not method.learns:
        return voter
    if seen.sum() < FEWEST_QUESTIONS:
        raise CalibrationError(
            f"{pool.n_questions} questions are too few to learn what a score is worth: label more, or use 'exact'"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteelyardWarning)
        return voter.fit(pool.take(np.flatnonzero(seen)))


def _totals(voters: list[Method], pool: LabelledPool, fold: Ints, full: Readings) -> Vector:
    """The totals of all answers by fits on other folds [K]."""
    totals = np.zeros(len(full.begin))
    for k, voter in enumerate(voters):
        part = pool.take(np.flatnonzero(fold == k)).unlabelled()
        totals[fold[full.question] == k] = answer_totals(voter, part, readings(part))
    return totals


def _sharpness(pool: LabelledPool, full: Readings, totals: Vector) -> float:
    """Return the maximum-likelihood factor from totals to log-odds."""
    correct = pool.answer_correct[pool.base[full.question] + full.code]
    hits = np.add.reduceat(correct.astype(np.int64), full.starts)
    keep = np.repeat((hits > 0) & (hits < full.sizes), full.sizes)
    if not keep.any():
        return 1.0
    sizes = full.sizes[(hits > 0) & (hits < full.sizes)]
    starts, x = np.cumsum(sizes) - sizes, totals[keep][:, None]
    x = x - np.repeat(np.add.reduceat(x, starts) / sizes[:, None], sizes, axis=0)
    spread = float(np.sqrt((x**2).mean())) or 1.0

    def likelihood(theta: Vector) -> tuple[float, Vector, Vector]:
        return log_likelihood(starts, x / spread, correct[keep], theta)

    theta = maximise(ridge(likelihood, np.array([0.01])), np.ones(1), free=np.ones(1, bool))
    return float(np.clip(theta[0] / spread, 0.0, SHARPEST))


def _replayed(
    rule: AskingRule, voters: list[Method], pool: LabelledPool, fold: Ints, asking: Asking
) -> tuple[LabelledPool, NDArray[np.int32]]:
    """Return the pool with the scores that fits on other folds ask for, and their verdicts [Q]."""
    scored, code = np.zeros(pool.n_responses, bool), np.full(pool.n_questions, -1, np.int32)
    for k, voter in enumerate(voters):
        mine = np.flatnonzero(fold == k)
        voter.asking_ = asking
        seen = replay(rule, voter, pool.take(mine).unlabelled())
        scored[pool.spread(fold) == k] = True if seen.scored is None else seen.scored
        code[mine] = voter.decide(seen).code
    return pool.only_scored(scored), code


def _of(full: Readings, probability: Vector, code: NDArray[np.int32], pool: LabelledPool) -> Vector:
    """Return the probability of the verdict of each question that has answers [Q']."""
    chosen = full.code == code[full.question]
    picked: Vector = np.add.reduceat(np.where(chosen, probability, 0.0), full.starts)
    if len(picked) > pool.n_questions:
        raise AssertionError("more verdicts than questions")
    return picked


def _outcomes(
    crossfit: CrossfitReplay, asking: Asking, seen: LabelledPool
) -> tuple[Vector, Vector, Bools, Bools] | None:
    """Return log-odds by method and by votes, whether the verdict has a scored vote, and whether it is correct."""
    pool, size = crossfit.pool, crossfit.pool.n_questions
    by_model, by_votes, read, correct = np.zeros(size), np.zeros(size), np.zeros(size, bool), np.zeros(size, bool)
    for k, voter in enumerate(crossfit.voters):
        mine = np.flatnonzero(crossfit.fold == k)
        part = seen.take(mine).unlabelled()
        voter.asking_ = None  # the confidence as it is
        verdicts = voter.predict(asking.filling.apply(part))
        if verdicts.p_correct is None:
            return None
        by_model[mine], by_votes[mine] = log_odds(verdicts.p_correct), vote_odds(verdicts)
        read[mine], correct[mine] = verdict_was_read(verdicts, part), verdicts.correct(pool.take(mine))
    voted = seen.m > 0
    return by_model[voted], by_votes[voted], read[voted], correct[voted]
