"""Scores as probabilities: Platt's logistic regression of right on the score, held back a little.

    maximise  sum log Bernoulli(y; sigma(b0 + b1 x)) - b1^2 / 2,      x = (logit p - mean) / sd

A slope below 0 (a verifier that is wrong more often than right) is taken as 0: such a score says
nothing we would vote by.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.newton import maximise, ridge
from steelyard.voting.pools.logistic import expit

PENALTY = np.array([1e-9, 1.0])  # of intercept and slope


def platt(x: NDArray[np.float64], correct: NDArray[np.bool_]) -> tuple[float, float]:
    """Return intercept and slope ; the penalty keeps the slope finite."""
    y = correct.astype(np.float64)
    design = np.stack((np.ones_like(x), x))

    def likelihood(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        z = theta @ design
        p = expit(z)
        value = float((y * z - np.logaddexp(0.0, z)).sum())
        return value, design @ (y - p), (design * (p * (1 - p))) @ design.T

    theta = maximise(ridge(likelihood, PENALTY), np.array([_log_odds(y.mean()), 0.0]), tolerance=1e-14)
    if theta[1] <= 0:
        return _log_odds(y.mean()), 0.0
    return float(theta[0]), float(theta[1])


def _log_odds(share: float) -> float:
    inside = min(max(float(share), 1e-6), 1 - 1e-6)
    return float(np.log(inside / (1 - inside)))
