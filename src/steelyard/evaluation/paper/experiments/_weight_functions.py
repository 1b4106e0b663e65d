"""Weight functions log f1 / f0 of the score: of a whole set, and of one question by its own labels; pseudo-PRMs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.paper.measuring import quiet
from steelyard.voting.methods.kde import KDEVote
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.score_weights import FLOOR, clipped_logit, silverman

Values = NDArray[np.float64]
SCORES: Values = np.linspace(0.01, 0.99, 99)
CONSTANT = 1e-9  # nats; a function of equal densities is 0 up to rounding, and its shape would be that of the rounding
FEWEST = 3  # correct and incorrect responses that a question needs


def global_function(cal: LabelledPool) -> tuple[KDEVote, Values]:
    """The PRM term fitted on a calibration set, at SCORES."""
    with quiet():
        vote = KDEVote(reliability="printed").fit(cal)
    return vote, np.array([vote.weight(float(score)) for score in SCORES])


def mixed(pool: LabelledPool) -> Ints:
    """The questions with enough correct and incorrect scored responses."""
    usable = pool.readable & ~np.isnan(pool.known_scores)
    hits = np.add.reduceat((pool.correct & usable).astype(np.int64), pool.starts[:-1])
    misses = np.add.reduceat((~pool.correct & usable).astype(np.int64), pool.starts[:-1])
    return np.flatnonzero((hits >= FEWEST) & (misses >= FEWEST))


def question_function(pool: LabelledPool, question: int) -> Values:
    """The PRM term of one question from densities of its own responses, at SCORES."""
    rows = slice(pool.starts[question], pool.starts[question + 1])
    p, correct = pool.known_scores[rows], pool.correct[rows]
    usable = pool.readable[rows] & ~np.isnan(p)
    z, x = clipped_logit(p[usable]), clipped_logit(SCORES)
    f1, f0 = (_density(z[correct[usable] == kind], x) for kind in (True, False))
    ratio: Values = np.log(f1 + FLOOR) - np.log(f0 + FLOOR)
    return ratio


def scaled(values: Values) -> Values:
    """Scale the range of a function to (-0.5, 0.5); a constant is 0, also one that rounding has made uneven.

    >>> scaled(np.array([2.0, 3.0, 6.0]))
    array([-0.5 , -0.25,  0.5 ])
    >>> scaled(np.array([2.0, 2.0 + 4e-16]))
    array([0., 0.])
    """
    low, high = values.min(), values.max()
    return np.zeros_like(values) if high - low < CONSTANT else (values - low) / (high - low) - 0.5


def zero_crossing(values: Values, seen: Ints) -> float | None:
    """The score at which a weight function turns from negative to positive for the last time; `seen` are places."""
    rising = [i for i in seen[:-1] if values[i] < 0 <= values[i + 1]]
    if not rising:
        return None
    i = rising[-1]
    part = values[i] / (values[i] - values[i + 1])
    return float(SCORES[i] + part * (SCORES[i + 1] - SCORES[i]))


def _density(z: Values, x: Values) -> Values:
    """The mean of Gaussian kernels around z, at x."""
    h = silverman(z)
    u = (x[:, None] - z[None, :]) / h
    f: Values = np.exp(-0.5 * u * u).mean(axis=1) / (h * np.sqrt(2 * np.pi))
    return f


def pseudo(pool: LabelledPool, seed: int) -> LabelledPool:
    """Deal the scores out again among all correct and among all incorrect responses, whatever their question."""
    rng = np.random.default_rng(seed)
    scores = pool.known_scores.copy()
    for kind in (True, False):
        rows = np.flatnonzero(pool.correct == kind)
        scores[rows] = scores[rng.permutation(rows)]
    return replace(pool, scores=scores)
