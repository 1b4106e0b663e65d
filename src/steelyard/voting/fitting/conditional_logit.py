"""Which answer is correct? A conditional logit over the answers of a question, with a prior.

    P(answer k) = softmax_k (theta . x_k)
    maximise  sum over questions of log P(correct)  -  sum over features v of penalty_v (theta_v - centre_v)^2 / 2

x: votes, mean, best, sum and share of an answer (fitting/answer_features.py). The prior is the majority vote: votes
are centred on 1, everything read from scores on 0. With few labels the votes of a dozen contested questions can
look worthless by chance; without a prior on them the fit then hands the verdict to the scores, whatever these are. The
penalties on mean, best, sum and share are in units of their spread within questions; those on the last two are the
heaviest: sums are right where samples are independent, and those of a language model are not. How heavy the last three
are is cross-validated.
Votes and scores may only count for an answer: where the likeliest coefficient is negative the feature is left out, and
with the sum the share that its offset multiplies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.answer_features import FEATURES, AnswerFeatures
from steelyard.voting.fitting.choice_likelihood import log_likelihood
from steelyard.voting.fitting.newton import Objective, maximise, ridge
from steelyard.voting.pools.arrays import Bools, Ints

VOTES_PENALTY = 5.0  # on votes, in their own units: a standard deviation of 0.45 around the majority vote
MEAN_PENALTY = 1.0  # on the mean score; both were chosen on the grid, where they cost nothing (docs/accuracy.md)
HEAVIEST = 1e6
PENALTIES = (1.0, 4.0, 16.0, 64.0, np.inf)
PENALTY_FACTOR = np.array([0.0, 0.0, 1.0, 16.0, 16.0])  # how much of the penalty each feature feels
ONLY_FOR = np.array([name != "share" for name in FEATURES])
VOTES, MEAN, SUM, SHARE = (FEATURES.index(name) for name in ("votes", "mean", "sum", "share"))
MAJORITY = np.array([float(name == "votes") for name in FEATURES])

Theta = NDArray[np.float64]


def fit_conditional_logit(features: AnswerFeatures, penalty: float) -> Theta:
    """Return theta [5] in the units of the features; the majority vote where nothing can be learned."""
    return _fits(features, (penalty,))[0]


def fit_votes(features: AnswerFeatures) -> Theta:
    """Return theta [5] of the majority vote: how much its votes say, and nothing of the scores."""
    return fit_conditional_logit(replace(features, x=features.x * MAJORITY), np.inf)


def _fits(features: AnswerFeatures, penalties: Sequence[float]) -> list[Theta]:
    """Return theta [5] for every penalty; each fit begins where the one before it ended."""
    known = features.take(features.open)
    if not len(known.starts):
        return [MAJORITY] * len(penalties)
    centred = known.x - np.repeat(np.add.reduceat(known.x, known.starts) / known.sizes[:, None], known.sizes, axis=0)
    spread = np.sqrt((centred**2).mean(axis=0))
    varies = spread > 1e-9
    spread = np.where(varies, spread, 1.0)
    likelihood = partial(log_likelihood, known.starts, centred / spread, known.correct)
    thetas, start = [], MAJORITY * spread
    for penalty in penalties:
        start, free = _most_likely(likelihood, penalty, start, varies, spread)
        theta = np.where(free, start / spread, 0.0)
        if not varies[VOTES]:
            theta[VOTES] = MAJORITY[VOTES]
        thetas.append(theta if theta.any() else MAJORITY)
    return thetas


def _most_likely(
    likelihood: Objective, penalty: float, start: Theta, varies: Bools, spread: Theta
) -> tuple[Theta, Bools]:
    """Return the likeliest theta [5] without a feature that would count against an answer, and which are left."""
    penalties = PENALTY_FACTOR * min(penalty, HEAVIEST)
    penalties[VOTES], penalties[MEAN] = VOTES_PENALTY / spread[VOTES] ** 2, MEAN_PENALTY
    objective = ridge(likelihood, penalties, MAJORITY * spread)
    free = varies & ((PENALTY_FACTOR == 0) | (penalty < np.inf))
    while True:
        free[SHARE] &= free[SUM]
        theta = maximise(objective, np.where(free, start, 0.0), free=free)
        negative = np.where(ONLY_FOR & free, theta, 0.0)
        if negative.min() >= 0:
            return theta, free
        free = free & (np.arange(len(free)) != negative.argmin())


def choice_probabilities(features: AnswerFeatures, theta: Theta) -> NDArray[np.float64]:
    """Return P(answer) of every answer [K]; they add up to 1 over a question."""
    u = features.x @ theta
    u -= np.repeat(np.maximum.reduceat(u, features.starts), features.sizes)
    e = np.exp(u)
    share: NDArray[np.float64] = e / np.repeat(np.add.reduceat(e, features.starts), features.sizes)
    return share


def log_chances(open_questions: AnswerFeatures, theta: Theta) -> NDArray[np.float64]:
    """Return log P(correct) of questions that have a correct answer [Q']."""
    if not len(open_questions.starts):
        return np.empty(0)
    correct = np.where(open_questions.correct, choice_probabilities(open_questions, theta), 0.0)
    return np.log(np.maximum(np.add.reduceat(correct, open_questions.starts), 1e-12))


def cross_validate(features: AnswerFeatures, fold: Ints, se_tolerance: float) -> float:
    """Return the heaviest penalty whose held-out likelihood is within `se_tolerance` standard errors of the best.

    `fold` [Q'] says where each question is held out.
    """
    known, fold = features.take(features.open), fold[features.open]
    if len(np.unique(fold)) < 2:
        return np.inf
    chances = np.empty((len(PENALTIES), len(fold)))
    for k in np.unique(fold):
        rest, held = known.take(fold != k), known.take(fold == k)
        for row, theta in enumerate(_fits(rest, PENALTIES)):
            chances[row, fold == k] = log_chances(held, theta)
    behind = chances[chances.mean(axis=1).argmax()] - chances
    error = behind.std(axis=1) / np.sqrt(len(fold))
    return max(p for p, b, e in zip(PENALTIES, behind.mean(axis=1), error, strict=True) if b <= se_tolerance * e)
