"""How likely the verdict is right: learned on questions the vote had not seen.

    P(right) = sigma(b0 + b . f)
    f: log-odds of the winner, its best evidence, its share of the votes, log of the number of answers

The winner's chance among the answers says nothing of the case that no answer is right, and is sure of itself
where it was fitted. So its folds are decided by fits on the others, and a logistic regression, held back
a little, says how often such verdicts were right.
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

SIZE = 4
STEPS = 50
SURE = 1e-6
BEST, SHARE = FEATURES.index("best"), FEATURES.index("share")


@dataclass(frozen=True)
class Judge:
    """What was learned: the mean and the spread of the features, the coefficients, the intercept."""

    values: NDArray[np.float64]  # [3 * SIZE + 1]

    @classmethod
    def fit(cls, slate: Slate, chance: NDArray[np.float64]) -> Judge:
        """Learn from chances that were not fitted on the same questions."""
        f, winner = _features(slate, chance)
        right = slate.right[winner].astype(np.float64)
        middle, spread = f.mean(axis=0), np.maximum(f.std(axis=0), 1e-9)
        theta = logistic((f - middle) / spread, right)
        return cls(np.concatenate((middle, spread, theta)))

    def believe(self, slate: Slate, chance: NDArray[np.float64], questions: int) -> NDArray[np.float64]:
        """Return P(right) of every question's verdict [Q]; 0 where there is no answer."""
        middle, spread, theta = self.values[:SIZE], self.values[SIZE : 2 * SIZE], self.values[2 * SIZE :]
        f, _ = _features(slate, chance)
        found = np.zeros(questions)
        found[slate.question] = expit(theta[0] + ((f - middle) / spread) @ theta[1:])
        return found

    @staticmethod
    def check(values: NDArray[np.float64] | None) -> None:
        """Refuse what a damaged plan holds."""
        if (
            values is None
            or len(values) != 3 * SIZE + 1
            or not np.isfinite(values).all()
            or (values[SIZE : 2 * SIZE] <= 0).any()
        ):
            raise PlanError("its confidence is damaged")


def held_out(slate: Slate, fold: Ints, penalty: float) -> NDArray[np.float64]:
    """Return the chances of all answers [K], each fold's from a fit on the others."""
    found = np.empty(len(slate.x))
    for k in np.unique(fold):
        found[np.repeat(fold == k, slate.sizes)] = chances(
            slate.take(fold == k), choice(slate.take(fold != k), penalty)
        )
    return found


def winners_right(slate: Slate, chance: NDArray[np.float64], questions: int) -> Bools:
    """Return which likeliest answers are right [Q]."""
    found = np.zeros(questions, bool)
    found[slate.question] = slate.right[_features(slate, chance)[1]]
    return found


def _features(slate: Slate, chance: NDArray[np.float64]) -> tuple[NDArray[np.float64], Ints]:
    """Return the features of each question's likeliest answer [Q', 4] and where it stands."""
    top = np.maximum.reduceat(chance, slate.starts)
    place = np.where(chance == np.repeat(top, slate.sizes), np.arange(len(chance)), len(chance))
    winner = np.minimum.reduceat(place, slate.starts)
    inside = np.clip(top, SURE, 1 - SURE)
    odds = np.log(inside) - np.log1p(-inside)
    return np.stack((odds, slate.x[winner, BEST], slate.x[winner, SHARE], np.log(slate.sizes)), axis=1), winner


def logistic(f: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fit intercept and coefficients by Newton steps, a penalty of 1 on the coefficients."""
    design = np.column_stack((np.ones(len(f)), f))
    penalty = np.append(1e-3, np.ones(f.shape[1]))
    theta = np.zeros(design.shape[1])
    for _ in range(STEPS):
        p = expit(design @ theta)
        slope = design.T @ (right - p) - penalty * theta
        bend = (design.T * (p * (1 - p))) @ design + np.diag(penalty)
        step = np.linalg.solve(bend, slope)
        theta = theta + step / max(1.0, np.abs(step).max() / 2)
        if np.abs(step).max() < 1e-10:
            break
    return theta
