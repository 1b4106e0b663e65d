"""How likely the verdict is right: learned on questions the vote had not seen.

    P(right) = sigma(tau l) * sigma(b0 + b . f)
    l: log-odds of the winner among the answers;  f: its best evidence, log of the number of answers

The first factor says it is this answer and not another one, the second that the right one is among them at all:
the winner's chance knows nothing of that, and is sure of itself where it was fitted. So each fold is decided by a
fit on the others, and tau and b are what makes those verdicts' outcomes most likely, with a prior where the
labels are few: a best score speaks for its answer, the number of answers for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Bools, Ints
from steelyard.calibration.choice import chances, choice
from steelyard.calibration.slate import FEATURES, Slate
from steelyard.errors import PlanError
from steelyard.weights.logit import expit

SIZE = 2  # features of the second factor
STEPS = 100
SURE = 1e-6
LEAST = 0.01  # a feature with less spread is taken as it is
BEST = FEATURES.index("best")
PRIOR = np.array([0.2, 2.0, 1.0, 0.0])  # of log tau, b0, b
WEIGHT = np.array([25.0, 0.3, 1.0, 4.0])  # one over the variance of each

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Judge:
    """What was learned: the mean and the spread of the features, then log tau, b0 and b."""

    values: Vector  # [3 * SIZE + 2]

    @classmethod
    def fit(cls, slate: Slate, chance: Vector) -> Judge:
        """Learn from chances that were not fitted on the same questions."""
        odds, f, winner = _features(slate, chance)
        middle, spread = f.mean(axis=0), f.std(axis=0)
        spread = np.where(spread > LEAST, spread, 1.0)
        theta = most_likely(odds, (f - middle) / spread, slate.right[winner])
        return cls(np.concatenate((middle, spread, theta)))

    def believe(self, slate: Slate, chance: Vector, questions: int) -> Vector:
        """Return P(right) of every question's verdict [Q]; 0 where there is no answer."""
        middle, spread, theta = self.values[:SIZE], self.values[SIZE : 2 * SIZE], self.values[2 * SIZE :]
        odds, f, _ = _features(slate, chance)
        this, among = factors(theta, odds, (f - middle) / spread)
        found = np.zeros(questions)
        found[slate.question] = this * among
        return found

    @staticmethod
    def check(values: Vector | None) -> None:
        """Refuse what a damaged plan holds."""
        if (
            values is None
            or len(values) != 3 * SIZE + 2
            or not np.isfinite(values).all()
            or (values[SIZE : 2 * SIZE] <= 0).any()
        ):
            raise PlanError("its confidence is damaged")


def held_out(slate: Slate, fold: Ints, penalty: float) -> Vector:
    """Return the chances of all answers [K], each fold's from a fit on the others."""
    found = np.empty(len(slate.x))
    for k in np.unique(fold):
        found[np.repeat(fold == k, slate.sizes)] = chances(
            slate.take(fold == k), choice(slate.take(fold != k), penalty)
        )
    return found


def winners_right(slate: Slate, chance: Vector, questions: int) -> Bools:
    """Return which likeliest answers are right [Q]."""
    found = np.zeros(questions, bool)
    found[slate.question] = slate.right[_features(slate, chance)[2]]
    return found


def _features(slate: Slate, chance: Vector) -> tuple[Vector, Vector, Ints]:
    """Return log-odds [Q'] and features [Q', 2] of each question's likeliest answer, and where it stands."""
    top = np.maximum.reduceat(chance, slate.starts)
    place = np.where(chance == np.repeat(top, slate.sizes), np.arange(len(chance)), len(chance))
    winner = np.minimum.reduceat(place, slate.starts)
    inside = np.clip(top, SURE, 1 - SURE)
    return np.log(inside) - np.log1p(-inside), np.stack((slate.x[winner, BEST], np.log(slate.sizes)), axis=1), winner


def factors(theta: Vector, odds: Vector, f: Vector) -> tuple[Vector, Vector]:
    """Return how likely it is this answer of those given, and how likely the right one is among them."""
    return expit(np.exp(theta[0]) * odds), expit(theta[1] + f @ theta[2:])


def most_likely(odds: Vector, f: Vector, right: Bools) -> Vector:
    """Climb the likelihood and the prior by Fisher's steps with halving."""
    theta = PRIOR
    value, slope, bend = _likelihood(theta, odds, f, right)
    for _ in range(STEPS):
        step, size = np.linalg.solve(bend, slope), 1.0
        while size > 1e-9:
            tried = _likelihood(theta + size * step, odds, f, right)
            if tried[0] > value:
                break
            size /= 2
        else:
            break
        gain, theta = tried[0] - value, theta + size * step
        value, slope, bend = tried
        if gain < 1e-12 * (1 + abs(value)):
            break
    return theta


def _likelihood(theta: Vector, odds: Vector, f: Vector, right: Bools) -> tuple[float, Vector, NDArray[np.float64]]:
    """Return log-likelihood plus log-prior, its slope, and Fisher's information."""
    this, among = factors(theta, odds, f)
    p = np.clip(this * among, 1e-12, 1 - 1e-12)
    design = np.column_stack((odds * np.exp(theta[0]) * (1 - this), 1 - among, f * (1 - among)[:, None]))  # d log p
    away = theta - PRIOR
    value = np.log(np.where(right, p, 1 - p)).sum() - (WEIGHT * away**2).sum() / 2
    slope = design.T @ np.where(right, 1.0, -p / (1 - p)) - WEIGHT * away
    return float(value), slope, (design.T * (p / (1 - p))) @ design + np.diag(WEIGHT)
