"""Logistic regression with a ridge, weights on the rows, and no coefficient below 0.

maximise  sum_i w_i log P(y_i) - penalty |c|^2 / 2,   P(1) = sigma(a + c . x),   c >= 0
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Bools
from steelyard.weights.logit import expit

STEPS = 50
LOOSE = 1e-3  # the penalty on the intercept: enough to keep it finite


def logistic(
    x: NDArray[np.float64], y: Bools, w: NDArray[np.float64], penalty: float, free: Bools
) -> NDArray[np.float64]:
    """Return the intercept and the coefficients [1 + V] of x [R, V]; 0 for those that are not free.

    Where the best coefficient is negative it is fixed at 0, the most negative first, and the rest fitted again.
    """
    design = np.column_stack((np.ones(len(x)), x))
    ridge = np.append(LOOSE, np.full(x.shape[1], penalty))
    open_ = np.append(True, free)
    while True:
        theta = _climb(design, y.astype(np.float64), w, ridge, open_)
        against = np.append(0.0, theta[1:])
        if against.min() >= 0:
            return theta
        open_ = open_ & (np.arange(len(theta)) != against.argmin())


def _climb(
    design: NDArray[np.float64], y: NDArray[np.float64], w: NDArray[np.float64], ridge: NDArray[np.float64], free: Bools
) -> NDArray[np.float64]:
    """Climb over the free entries by Newton steps with halving."""

    def value(theta: NDArray[np.float64]) -> float:
        u = design @ theta
        return float((w * (y * u - np.logaddexp(0.0, u))).sum() - (ridge * theta**2).sum() / 2)

    theta = np.zeros(design.shape[1])
    best = value(theta)
    for _ in range(STEPS):
        p = expit(design @ theta)
        slope = (design.T @ (w * (y - p)) - ridge * theta)[free]
        bend = ((design.T * (w * p * (1 - p))) @ design + np.diag(ridge))[np.ix_(free, free)]
        step = np.zeros(len(theta))
        step[free] = np.linalg.solve(bend, slope)
        size = 1.0
        while size > 1e-6 and (found := value(theta + size * step)) < best:
            size /= 2
        gain = found - best
        if gain <= 0:
            break
        theta, best = theta + size * step, found
        if gain < 1e-12 * (1 + abs(best)):
            break
    return theta
