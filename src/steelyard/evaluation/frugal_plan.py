"""What a plan learns about asking: the rule `expected` is replayed on calibration questions with ever wider margins.

    loss(margin) = mean over questions of  P(verdict with all scores) - P(verdict with those asked)

P: the chance of an answer by all scores, from totals of fits on other folds, so that nothing is judged by what it was
fitted on. The margin taken is the one with the least  loss + price x scores per question; a margin of 0 asks nothing.
How sure a verdict with some scores is, is learned on the same replay.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.asking.filling import Filling
from steelyard.asking.lead import answer_totals
from steelyard.asking.learned import Asking, log_odds, verdict_was_read, vote_odds
from steelyard.asking.readings import Readings, readings, texts_asked
from steelyard.asking.rule import replay
from steelyard.asking.rules.expected import Expected
from steelyard.errors import CalibrationError, SettingError, SteelyardWarning, need_numbers
from steelyard.fitting.choice_likelihood import log_likelihood
from steelyard.fitting.folds import fold_of
from steelyard.fitting.newton import maximise, ridge
from steelyard.fitting.platt_scaling import platt
from steelyard.methods.base.enough import FEWEST_QUESTIONS
from steelyard.methods.base.method import Method
from steelyard.pools.arrays import Ints
from steelyard.pools.pool import LabelledPool

MARGINS = (0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
PRICE = 0.0015  # of one score, in accuracy: about seven scores must bring a point
MOST = 1.0
FOLDS = 5
SHARPEST = 1e3

Vector = NDArray[np.float64]


def learn_asking(method: Method, labelled: LabelledPool, *, price: float = PRICE, seed: int = 0) -> Method:
    """Let a fitted method learn on the pool it was fitted on what another score is worth; return it.

    `price` is what one score costs, in accuracy: 0.0015 is about a point for seven scores.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(100, 8))
    >>> vote = learn_asking(sy.CalibratedVote().fit(pool), pool)
    >>> 0 <= vote.asking_.scored <= 1
    True
    """
    check_price(price)
    if method.oracle or not method.reads_scores():
        raise SettingError(f"{method.name} reads no scores to ask for: fit a plan that does, such as calibrated")
    pool = labelled if method.fitted_on_ is None else labelled.first(method.fitted_on_.n)
    one = method.mixed(pool)
    fold = fold_of(one, FOLDS, seed)
    voters = [_fitted(method, one, fold != k) for k in range(FOLDS)]
    filling = Filling.learn(one)
    start = Asking(*_numbers(filling), 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, price, 0.0, 0.0, 0.0)
    full = readings(one.unlabelled())
    totals = _totals(voters, one, fold, full)
    start = replace(start, sharpness=_sharpness(one, full, totals))
    chance = _chance(full, start.sharpness * totals)
    best = np.maximum.reduceat(chance, full.starts)
    found = []
    for margin in MARGINS:
        asking = replace(start, margin=margin)
        seen, verdict = _replayed(voters, one, fold, asking)
        loss = float((best - _of(full, chance, verdict, one)).sum() / one.n_questions)
        scores = float(texts_asked(seen).mean())
        asking = replace(asking, loss=loss, scored=scores / float(one.sizes.mean()))
        found.append((loss + price * scores, asking, seen))
        if price * scores > min(cost for cost, *_ in found):  # a wider margin asks for more still
            break
    nothing = found[0][1].loss
    _, asking, seen = min(found, key=lambda each: each[0])
    asking = _with_confidence(voters, one, fold, replace(asking, gain=nothing), seen)
    learned = copy.copy(method)
    learned.asking_ = asking
    return learned


def check_price(price: float) -> None:
    """Refuse a price that is no price."""
    need_numbers(price_score=price)
    if not 0 <= price <= MOST:
        raise SettingError(
            f"the price of a score is {price:g}: give it in accuracy, 0 or more and at most 1, as 0.0015 (a point "
            "of accuracy for seven scores)"
        )


def _numbers(filling: Filling) -> tuple[float, float, float, float]:
    return filling.level, filling.by_share, filling.between, filling.within


def _fitted(method: Method, pool: LabelledPool, seen: NDArray[np.bool_]) -> Method:
    """The method fitted on some of the questions; one that learns nothing is as it was."""
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


def _totals(voters: list[Method], pool: LabelledPool, fold: Ints, found: Readings) -> Vector:
    """The totals of all answers by fits on other folds [K]."""
    totals = np.zeros(len(found.begin))
    for k, voter in enumerate(voters):
        part = pool.take(np.flatnonzero(fold == k)).unlabelled()
        totals[fold[found.question] == k] = answer_totals(voter, part, readings(part))
    return totals


def _sharpness(pool: LabelledPool, found: Readings, totals: Vector) -> float:
    """How many log-odds a unit of the totals is worth: the likeliest factor."""
    correct = pool.answer_correct[pool.base[found.question] + found.code]
    hits = np.add.reduceat(correct.astype(np.int64), found.starts)
    keep = np.repeat((hits > 0) & (hits < found.sizes), found.sizes)
    if not keep.any():
        return 1.0
    sizes = found.sizes[(hits > 0) & (hits < found.sizes)]
    starts, x = np.cumsum(sizes) - sizes, totals[keep][:, None]
    x = x - np.repeat(np.add.reduceat(x, starts) / sizes[:, None], sizes, axis=0)
    spread = float(np.sqrt((x**2).mean())) or 1.0

    def likelihood(theta: Vector) -> tuple[float, Vector, Vector]:
        return log_likelihood(starts, x / spread, correct[keep], theta)

    theta = maximise(ridge(likelihood, np.array([0.01])), np.ones(1), free=np.ones(1, bool))
    return float(np.clip(theta[0] / spread, 0.0, SHARPEST))


def _chance(found: Readings, u: Vector) -> Vector:
    e = np.exp(u - found.top(u))
    chance: Vector = e / np.repeat(np.add.reduceat(e, found.starts), found.sizes)
    return chance


def _replayed(
    voters: list[Method], pool: LabelledPool, fold: Ints, asking: Asking
) -> tuple[LabelledPool, NDArray[np.int32]]:
    """The pool as asked for by fits on other folds, and their verdicts [Q]."""
    asked, code = np.zeros(pool.n_responses, bool), np.full(pool.n_questions, -1, np.int32)
    for k, voter in enumerate(voters):
        mine = np.flatnonzero(fold == k)
        voter.asking_ = asking
        seen = replay(Expected(), voter, pool.take(mine).unlabelled())
        asked[pool.spread(fold) == k] = True if seen.asked is None else seen.asked
        code[mine] = voter.decide(seen).code
    return pool.only_asked(asked), code


def _of(found: Readings, chance: Vector, code: NDArray[np.int32], pool: LabelledPool) -> Vector:
    """The chance of the verdict of every question that has answers [Q']."""
    chosen = found.code == code[found.question]
    picked: Vector = np.add.reduceat(np.where(chosen, chance, 0.0), found.starts)
    if len(picked) > pool.n_questions:
        raise AssertionError("more verdicts than questions")
    return picked


def _with_confidence(
    voters: list[Method], pool: LabelledPool, fold: Ints, asking: Asking, seen: LabelledPool
) -> Asking:
    """Learn how sure verdicts with some scores are, from those of fits on other folds."""
    size = pool.n_questions
    by_model, by_votes, read, correct = np.zeros(size), np.zeros(size), np.zeros(size, bool), np.zeros(size, bool)
    for k, voter in enumerate(voters):
        mine = np.flatnonzero(fold == k)
        part = seen.take(mine).unlabelled()
        voter.asking_ = None  # the confidence as it is
        filled = asking.filling.apply(part)
        verdicts = voter.predict(filled)
        if verdicts.p_correct is None:
            return asking
        by_model[mine], by_votes[mine] = log_odds(verdicts.p_correct), vote_odds(verdicts)
        read[mine], correct[mine] = verdict_was_read(verdicts, part), verdicts.correct(pool.take(mine))
    there = seen.m > 0
    lines = _line(by_model, correct, read & there), _line(by_votes, correct, ~read & there)
    names = ("read_intercept", "read_slope", "unread_intercept", "unread_slope")
    return replace(asking, **dict(zip(names, [*lines[0], *lines[1]], strict=True)))


def _line(odds: Vector, correct: NDArray[np.bool_], among: NDArray[np.bool_]) -> tuple[float, float]:
    """Intercept and slope of log-odds of being correct; a verdict of each kind more keeps them from certainty."""
    if not among.any():
        return 0.0, 1.0
    middle = odds[among].mean()
    x = np.append(odds[among], [middle, middle])
    return platt(x, np.append(correct[among], [True, False]))
