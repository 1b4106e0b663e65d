"""How likely a verdict is correct: learned on questions the vote had not seen.

    P(correct) = sigma(a + tau l) * sigma(b0 + b . f)
    l: log-odds of the winner among the answers;  f: its best evidence, log of the number of answers

The first factor says it is this answer and not another one, the second that the correct one is among them at all:
the winner's chance knows nothing of that, and is sure of itself where it was fitted. So a, tau and b are what makes
the outcomes of verdicts on other folds most likely, with a prior where the labels are few: a best score speaks
for its answer, the number of answers for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.answer_features import FEATURES, AnswerFeatures
from steelyard.voting.fitting.newton import maximise
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.logistic import expit

SIZE = 2  # features of the second factor
STEPS = 100
SURE = 1e-6
LEAST = 0.01  # a feature with less spread is taken as it is
FAR = 3.0
BEST = FEATURES.index("best")
PRIOR = np.array([0.2, 0.0, 2.0, 1.0, 0.0])  # of log tau, a, b0, b
WEIGHT = np.array([25.0, 10.0, 0.3, 1.0, 4.0])  # one over the variance of each

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class CorrectnessModel:
    """What was learned after some number of samples: mean and spread of the features, then log tau, a, b0 and b."""

    samples: int
    middle: Vector
    spread: Vector
    theta: Vector

    @classmethod
    def fit(cls, odds: Vector, f: Vector, correct: Bools, samples: int) -> CorrectnessModel:
        """Learn from verdicts whose log-odds were not fitted on the same questions."""
        middle, spread = f.mean(axis=0), f.std(axis=0)
        spread = np.where(spread > LEAST, spread, 1.0)
        return cls(samples, middle, spread, most_likely(odds, standard(f, middle, spread), correct))

    def predict_factors(self, odds: Vector, f: Vector) -> tuple[Vector, Vector]:
        """Return the two factors of P(correct) of verdicts after so many samples."""
        return factors(self.theta, odds, standard(f, self.middle, self.spread))


def winners(features: AnswerFeatures, chance: Vector) -> tuple[Vector, Vector, Ints]:
    """Return log-odds [Q'] and features [Q', 2] of each question's likeliest answer, and where it stands."""
    winner = features.winners(chance)
    inside = np.clip(chance[winner], SURE, 1 - SURE)
    return (
        np.log(inside) - np.log1p(-inside),
        np.stack((features.x[winner, BEST], np.log(features.sizes)), axis=1),
        winner,
    )


def standard(f: Vector, middle: Vector, spread: Vector) -> Vector:
    """Features in units of their spread; beyond FAR nothing was learned, and all is as at FAR."""
    return np.clip((f - middle) / spread, -FAR, FAR)


def factors(theta: Vector, odds: Vector, f: Vector) -> tuple[Vector, Vector]:
    """Return how likely it is this answer of those given, and how likely the correct one is among them."""
    scaled = theta[1] + np.exp(theta[0]) * odds
    return expit(scaled), expit(theta[2] + theta[3] * f[:, 0] + theta[4] * f[:, 1])


def most_likely(odds: Vector, f: Vector, correct: Bools) -> Vector:
    """Maximise likelihood and prior by Fisher scoring."""
    posterior = partial(_posterior, odds=odds, f=f, correct=correct)
    return maximise(posterior, PRIOR, steps=STEPS, tolerance=1e-12, smallest=1e-9)


def _posterior(theta: Vector, odds: Vector, f: Vector, correct: Bools) -> tuple[float, Vector, NDArray[np.float64]]:
    """Return log-likelihood plus log-prior, its gradient, and Fisher's information."""
    this, among = factors(theta, odds, f)
    p = np.clip(this * among, 1e-12, 1 - 1e-12)
    not_this, not_among = (1 - this)[:, None], (1 - among)[:, None]
    one = np.ones_like(not_this)  # d log p / d theta:
    design = np.hstack((odds[:, None] * np.exp(theta[0]) * not_this, one * not_this, one * not_among, f * not_among))
    away = theta - PRIOR
    value = np.log(np.where(correct, p, 1 - p)).sum() - (WEIGHT * away**2).sum() / 2
    gradient = design.T @ np.where(correct, 1.0, -p / (1 - p)) - WEIGHT * away
    return float(value), gradient, (design.T * (p / (1 - p))) @ design + np.diag(WEIGHT)
