"""Rules for the offset b below which a score counts against its answer.

`bagged`, the default: the mean of the exact optimum over bootstrap resamples of the questions. The accuracy curve is a
jagged step function and its highest step moves with every question; the mean over resamples stays put.

`grid`, the paper's rule: the first of some offsets that answers the most questions.

`likelihood`: the offset that makes the correct answers most likely,

    P(answer k) = softmax_k (a S_k - beta N_k),     maximise  sum over questions of log P(right)

a conditional logit: smooth and, with one correct answer per question, concave. Questions without a right (or without a
wrong) answer say nothing and are left out.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.voting.fitting.conditional_logit import log_likelihood
from steelyard.voting.fitting.offset_curve import Intervals, Lines
from steelyard.voting.fitting.solvers import maximise, ridge
from steelyard.voting.pools.arrays import Bools, Ints

BARELY = 1e-9  # a penalty that only keeps a flat likelihood solvable
FARTHEST = 64.0  # an offset beyond this is the limit


def bagged(intervals: Intervals, rank: Ints, *, bags: int = 30, seed: int = 0) -> float:
    """Return the mean chosen offset of `bags` resamples.

    `rank` [Q] is the place of each question in the order of ids, so that the draws do not depend
    on the order of the file. A resample may choose the majority limit; when at least half of them
    do, the result is that limit, otherwise it is the mean of the others.
    """
    rng = np.random.default_rng(seed)
    size = len(intervals.majority)
    even = np.full(size, 1 / size)
    chosen = np.array([intervals.curve(rng.multinomial(size, even)[rank]).chosen for _ in range(bags)])
    finite = np.isfinite(chosen)
    return float(chosen[finite].mean()) if finite.sum() > bags / 2 else -np.inf


def grid(lines: Lines, betas: ArrayLike) -> float:
    """Return the first of the offsets with the most correct questions."""
    points = np.asarray(betas, np.float64)
    return float(points[np.argmax(lines.correct_at(points).sum(axis=1))])


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
