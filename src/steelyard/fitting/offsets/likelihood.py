"""The offset that makes the right answers most likely.

    P(answer k) = softmax_k (a S_k - beta N_k),     maximise  sum over questions of log P(right)

a conditional logit: smooth and, with one right answer a question, concave. Newton steps with
halving; questions without a right (or without a wrong) answer say nothing and are left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard import kernels
from steelyard.fitting.offsets.answer_lines import Lines
from steelyard.pools.arrays import Bools, Ints

STEPS = 50
FARTHEST = 64.0  # an offset beyond this is the limit


def likelihood(lines: Lines) -> float:
    """Return the most likely offset with the slope a fixed at 1; infinite if there is no finite one."""
    theta = _newton(lines, np.array([1.0, 0.0]), free=np.array([False, True]))
    return _limit(theta[1])


def likelihood_with_slope(lines: Lines) -> tuple[float, float]:
    """Return the most likely slope a, and beta / a, the offset that gives the same vote."""
    theta = _newton(lines, np.array([1.0, 0.0]), free=np.array([True, True]))
    slope = float(theta[0])
    return slope, _limit(theta[1] / slope) if slope > 0 else -np.inf


def _limit(beta: float) -> float:
    return float(beta) if abs(beta) < FARTHEST else float(np.copysign(np.inf, beta))


def _newton(lines: Lines, theta: NDArray[np.float64], free: Bools) -> NDArray[np.float64]:
    """Climb the log-likelihood over the free entries of theta = (a, beta)."""
    starts, x, right = _informative(lines)
    if not len(starts):
        return np.array([1.0, -np.inf])
    value, slope, curvature = log_likelihood(starts, x, right, theta)
    for _ in range(STEPS):
        step = np.zeros(2)
        bend = curvature[np.ix_(free, free)]
        step[free] = np.linalg.solve(bend + 1e-9 * np.eye(len(bend)), slope[free])
        size = 1.0
        while size > 1e-6:
            tried = log_likelihood(starts, x, right, theta + size * step)
            if tried[0] >= value:
                break
            size /= 2
        else:
            break
        gain = tried[0] - value
        theta = theta + size * step
        value, slope, curvature = tried
        if gain < 1e-10 * (1 + abs(value)) or np.abs(theta).max() > 4 * FARTHEST:
            break
    return theta


def _informative(lines: Lines) -> tuple[Ints, NDArray[np.float64], Bools]:
    """Keep the answers of questions that have both a right and a wrong one: starts, (S, -N), right."""
    which = np.repeat(np.arange(lines.questions), np.diff(lines.offsets))
    hits = np.bincount(which, lines.right, lines.questions)
    size = np.diff(lines.offsets)
    keep = ((hits > 0) & (hits < size))[which]
    sizes = size[(hits > 0) & (hits < size)]
    x = np.stack((lines.s[keep], -lines.n[keep].astype(np.float64)), axis=1)
    return np.cumsum(sizes) - sizes, x, lines.right[keep]


def log_likelihood(
    starts: Ints, x: NDArray[np.float64], right: Bools, theta: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return log-likelihood, its gradient, and the curvature of the normalising term."""
    slope, curvature = np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
    value: float = kernels.log_likelihood(starts, x, right, theta, slope, curvature)
    return value, slope, curvature
