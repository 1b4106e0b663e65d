"""Which answer is right? A conditional logit over the answers of a question, held back by a ridge.

    P(answer k) = softmax_k (theta . x_k),   maximise  sum over questions of log P(right) - penalty |theta|^2 / 2

x: votes, mean, best, sum and share of an answer (fitting/answer_features.py), in units of its spread within questions.
Votes and mean are not held back: with a heavy penalty they are what is left, as in majority and vanilla vote. The
sums are held back most: they are right where samples are independent, and those of a language model are not.
Votes and scores may only speak for an answer: where the likeliest coefficient is negative the feature is left out, and
with the sum the share that its offset multiplies. Where no answer of an open question has more votes than
another, votes keep the coefficient of the majority vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from steelyard.fitting.answer_features import FEATURES, AnswerFeatures
from steelyard.fitting.choice_likelihood import log_likelihood
from steelyard.fitting.newton import Objective, maximise, ridge
from steelyard.pools.arrays import Bools, Ints

LOOSE = 0.01  # the penalty on votes and mean: enough to keep them finite
HEAVIEST = 1e6
PENALTIES = (1.0, 4.0, 16.0, 64.0, np.inf)
PENALTY_FACTOR = np.array([0.0, 0.0, 1.0, 16.0, 16.0])  # how much of the penalty each feature feels
ONLY_FOR = np.array([name != "share" for name in FEATURES])
VOTES, SUM, SHARE = (FEATURES.index(name) for name in ("votes", "sum", "share"))
MAJORITY = np.array([float(name == "votes") for name in FEATURES])

Theta = NDArray[np.float64]


def fit_conditional_logit(features: AnswerFeatures, penalty: float) -> Theta:
    """Return theta [5] in the units of the features; the majority vote where nothing can be learned."""
    return _fits(features, (penalty,))[0]


def _fits(features: AnswerFeatures, penalties: Sequence[float]) -> list[Theta]:
    """Return theta [5] for every penalty; each fit begins where the one before it ended."""
    known = features.take(features.open)
    if not len(known.starts):
        return [MAJORITY] * len(penalties)
    centred = known.x - np.repeat(np.add.reduceat(known.x, known.starts) / known.sizes[:, None], known.sizes, axis=0)
    spread = np.sqrt((centred**2).mean(axis=0))
    varies = spread > 1e-9
    likelihood = partial(log_likelihood, known.starts, centred / np.where(varies, spread, 1.0), known.correct)
    thetas, start = [], MAJORITY
    for penalty in penalties:
        start, free = _most_likely(likelihood, penalty, start, varies)
        theta = np.where(free, start / np.where(varies, spread, 1.0), 0.0)
        if not varies[VOTES]:
            theta[VOTES] = MAJORITY[VOTES]
        thetas.append(theta if theta.any() else MAJORITY)
    return thetas


def _most_likely(likelihood: Objective, penalty: float, start: Theta, varies: Bools) -> tuple[Theta, Bools]:
    """Return the likeliest theta [5] without a feature that would speak against an answer, and which ones are left."""
    penalties = np.where(PENALTY_FACTOR == 0, LOOSE, PENALTY_FACTOR * min(penalty, HEAVIEST))
    free = varies & ((PENALTY_FACTOR == 0) | (penalty < np.inf))
    while True:
        free[SHARE] &= free[SUM]
        theta = maximise(ridge(likelihood, penalties), np.where(free, start, 0.0), free=free)
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


def cross_validate(features: AnswerFeatures, fold: Ints, se_tolerance: float) -> float:
    """Return the heaviest penalty whose held-out likelihood is within so many standard se_tolerance of the best.

    `fold` [Q'] says where each question is held out.
    """
    known, fold = features.take(features.open), fold[features.open]
    if len(np.unique(fold)) < 2:
        return np.inf
    found = np.empty((len(PENALTIES), len(fold)))
    for k in np.unique(fold):
        rest, held = known.take(fold != k), known.take(fold == k)
        for row, theta in enumerate(_fits(rest, PENALTIES)):
            correct = np.where(held.correct, choice_probabilities(held, theta), 0.0)
            found[row, fold == k] = np.log(np.maximum(np.add.reduceat(correct, held.starts), 1e-12))
    behind = found[found.mean(axis=1).argmax()] - found
    error = behind.std(axis=1) / np.sqrt(len(fold))
    return max(p for p, b, e in zip(PENALTIES, behind.mean(axis=1), error, strict=True) if b <= se_tolerance * e)
