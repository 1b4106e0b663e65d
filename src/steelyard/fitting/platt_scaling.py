"""Scores as probabilities: Platt's logistic regression of right on the score, held back a little.

    maximise  sum log Bernoulli(y; sigma(b0 + b1 x)) - b1^2 / 2,      x = (logit p - mean) / sd

A slope below 0 (a verifier that is wrong more often than right) is taken as 0: such a score says
nothing we would vote by.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.pools.logistic import expit

STEPS = 50


def platt(x: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[float, float]:
    """Return intercept and slope by Newton steps; the penalty keeps the slope finite."""
    y = right.astype(np.float64)
    theta = np.array([_log_odds(y.mean()), 0.0])
    design = np.stack((np.ones_like(x), x))
    for _ in range(STEPS):
        p = expit(theta @ design)
        slope = design @ (y - p) - [0.0, theta[1]]
        bend = (design * (p * (1 - p))) @ design.T + np.diag([1e-9, 1.0])
        step = np.linalg.solve(bend, slope)
        theta = theta + step / max(1.0, np.abs(step).max() / 2)
        if np.abs(step).max() < 1e-10:
            break
    if theta[1] <= 0:
        return _log_odds(y.mean()), 0.0
    return float(theta[0]), float(theta[1])


def _log_odds(share: float) -> float:
    inside = min(max(float(share), 1e-6), 1 - 1e-6)
    return float(np.log(inside / (1 - inside)))
