"""The offset that makes the correct answers most likely.

    P(answer k) = softmax_k (a S_k - beta N_k),     maximise  sum over questions of log P(right)

a conditional logit: smooth and, with one correct answer per question, concave. Newton steps with
halving; questions without a right (or without a wrong) answer say nothing and are left out.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.choice_likelihood import log_likelihood
from steelyard.voting.fitting.newton import maximise, ridge
from steelyard.voting.fitting.offsets.answer_lines import Lines
from steelyard.voting.pools.arrays import Bools, Ints

BARELY = 1e-9  # a penalty that only keeps a flat likelihood solvable
FARTHEST = 64.0  # an offset beyond this is the limit


def likelihood(lines: Lines) -> float:
    """Return the most likely offset with the slope a fixed at 1; infinite if there is no finite one."""
    theta = _most_likely(lines, free=np.array([False, True]))
    return _limit(theta[1])


def likelihood_with_slope(lines: Lines) -> tuple[float, float]:
    """Return the most likely slope a, and beta / a, the offset that gives the same vote."""
    theta = _most_likely(lines, free=np.array([True, True]))
    slope = float(theta[0])
    return slope, _limit(theta[1] / slope) if slope > 0 else -np.inf


def _limit(beta: float) -> float:
    return float(beta) if abs(beta) < FARTHEST else float(np.copysign(np.inf, beta))


def _most_likely(lines: Lines, free: Bools) -> NDArray[np.float64]:
    """Maximise the log-likelihood over the free entries of theta = (a, beta), from a = 1 and beta = 0."""
    starts, x, correct = _informative(lines)
    if not len(starts):
        return np.array([1.0, -np.inf])
    likelihood = partial(log_likelihood, starts, x, correct)
    barely = ridge(likelihood, np.full(2, BARELY))
    return maximise(barely, np.array([1.0, 0.0]), free=free, farthest=4 * FARTHEST)


def _informative(lines: Lines) -> tuple[Ints, NDArray[np.float64], Bools]:
    """Keep the answers of questions that have both a right and a wrong one: starts, (S, -N), right."""
    which = np.repeat(np.arange(lines.questions), np.diff(lines.offsets))
    hits = np.bincount(which, lines.correct, lines.questions)
    size = np.diff(lines.offsets)
    keep = ((hits > 0) & (hits < size))[which]
    sizes = size[(hits > 0) & (hits < size)]
    x = np.stack((lines.s[keep], -lines.n[keep].astype(np.float64)), axis=1)
    return np.cumsum(sizes) - sizes, x, lines.correct[keep]
