"""Probabilities from one number: Platt's line, a line through log-odds, and the rising curve closest to the labels.

Platt's logistic regression of right on the score, with a light penalty. A slope below 0 (a verifier that is wrong more
often than right) is taken as 0: such a score says nothing we would vote by.

    maximise  sum log Bernoulli(y; sigma(b0 + b1 x)) - b1^2 / 2,      x = (logit p - mean) / sd

Log-odds x that need a correction: a line that stays near x itself, and is x where outcomes y are few.

    maximise  sum log Bernoulli(y; sigma(a + b x)) - 2 a^2 / 2 - 20 (b - 1)^2 / 2

Isotonic regression by pooling adjacent violators: neighbours that fall are averaged until none does. A step that rests
on n responses keeps n / (n + 150) of itself; the rest is a smooth curve.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.solvers import Objective, Vector, maximise, ridge
from steelyard.voting.pools.arrays import Bools, Floats
from steelyard.voting.pools.scores import expit

PLATT_PENALTY = np.array([1e-9, 1.0])  # of intercept and slope
LINE_PENALTY = np.array([2.0, 20.0])  # on the changes to the intercept 0 and the slope 1
HALFWAY = 150  # responses at which data and smooth curve count the same


def platt(x: NDArray[np.float64], correct: NDArray[np.bool_]) -> tuple[float, float]:
    """Return intercept and slope; the penalty keeps the slope finite."""
    y = correct.astype(np.float64)
    design = np.stack((np.ones_like(x), x))
    theta = maximise(ridge(_bernoulli(design, y), PLATT_PENALTY), np.array([_log_odds(y.mean()), 0.0]), tolerance=1e-14)
    if theta[1] <= 0:
        return _log_odds(y.mean()), 0.0
    return float(theta[0]), float(theta[1])


def log_odds_line(x: NDArray[np.float64], happened: Bools) -> tuple[float, float]:
    """Return intercept and slope; a slope below 0 is taken as 0.

    >>> log_odds_line(np.empty(0), np.empty(0, bool))
    (0.0, 1.0)
    >>> a, b = log_odds_line(np.full(400, 2.0), np.arange(400) % 2 == 0)  # they say 88 %, and it is 50 %
    >>> abs(a + 2 * b) < 0.1
    True
    """
    design = np.stack((np.ones_like(x), x))
    more = maximise(ridge(_bernoulli(design, happened, x), LINE_PENALTY), np.zeros(2))
    return float(more[0]), float(max(0.0, 1 + more[1]))


def shrunk_isotonic(
    p: Floats, correct: Bools, smooth: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return distinct scores, rising, and the probability at each.

    >>> flat = np.full(4, 0.5)
    >>> shrunk_isotonic(np.array([0.1, 0.2, 0.3, 0.3]), np.array([True, False, True, True]), flat)[1].round(4)
    array([0.5   , 0.5   , 0.5066])
    """
    scores, first, inverse, count = np.unique(p, return_index=True, return_inverse=True, return_counts=True)
    value, weight = violators_pooled(np.bincount(inverse, correct) / count, count.astype(np.float64))
    part = weight / (weight + HALFWAY)
    return scores.astype(np.float64), np.maximum.accumulate(part * value + (1 - part) * smooth[first])


def violators_pooled(
    value: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the closest rising sequence, and how much weight stands behind each of its steps.

    >>> violators_pooled(np.array([0.0, 1.0, 0.5]), np.ones(3))
    (array([0.  , 0.75, 0.75]), array([1., 2., 2.]))
    """
    means: list[float] = []
    weights: list[float] = []
    sizes: list[int] = []
    for v, w in zip(value.tolist(), weight.tolist(), strict=True):
        mean, total, size = v, w, 1
        while means and means[-1] >= mean:
            before, more = means.pop(), weights.pop()
            mean = (before * more + mean * total) / (more + total)
            total, size = total + more, size + sizes.pop()
        means.append(mean)
        weights.append(total)
        sizes.append(size)
    return np.repeat(means, sizes), np.repeat(weights, sizes)


def _bernoulli(design: Vector, outcome: NDArray[Any], offset: Vector | float = 0.0) -> Objective:
    """The log-likelihood of outcomes (0 or 1) with the log-odds offset + theta . design."""

    def likelihood(theta: Vector) -> tuple[float, Vector, NDArray[np.float64]]:
        z = offset + theta @ design
        p = expit(z)
        value = float((outcome * z - np.logaddexp(0.0, z)).sum())
        return value, design @ (outcome - p), (design * (p * (1 - p))) @ design.T

    return likelihood


def _log_odds(share: float) -> float:
    inside = min(max(float(share), 1e-6), 1 - 1e-6)
    return float(np.log(inside / (1 - inside)))
