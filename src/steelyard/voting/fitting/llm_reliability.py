"""The LLM's reliability q_M on a question, read off the verifier's scores; and what an oracle reads off its labels.

A binned calibrator g maps a score to the share of calibration responses with such scores that
were correct; q_M is the mean of g over all N responses of the question. An unreadable response
counts among the N and is never correct. An oracle knows the question's own densities and its own accuracy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Bools, Floats
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.score_weights import clipped_logit

BINS = 10


def bin_reliability(p: Floats, correct: Bools, bins: int = BINS) -> NDArray[np.float64]:
    """Return the share correct in each of the even bins of [0, 1]; empty ones between their neighbours.

    >>> bin_reliability(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, True, True, True]), bins=2)
    array([0.5, 1. ])
    """
    which = _bin(p, bins)
    count = np.bincount(which, minlength=bins)
    hits = np.bincount(which, correct, bins)
    filled = np.flatnonzero(count)
    return np.interp(np.arange(bins), filled, hits[filled] / count[filled])


def question_reliability(
    pool: Pool, share: NDArray[np.float64], prior: float, *, unread: tuple[Bools, float] | None = None
) -> NDArray[np.float64]:
    """Return q_M [Q] strictly inside (0, 1): the mean of g over the question's responses.

    `unread`: which responses were not requested [R], and the share to use for each of them.
    """
    p = pool.known_scores
    missing = np.isnan(p)
    g = np.where(missing, prior, share[_bin(np.where(missing, 0, p), len(share))])
    if unread is not None:
        g = np.where(unread[0], unread[1], g)
    mean = np.add.reduceat(np.where(pool.readable, g, 0.0), pool.starts[:-1]) / pool.sizes
    return inside(mean, pool.sizes)


def question_ratio(pool: LabelledPool, *, clip: float, crossfit: bool) -> NDArray[np.float64]:
    """Return the PRM term log f1 / f0 of every response [R], from densities of its own question.

    With `crossfit` a response is judged by the other half of its question's samples; without, by
    all of them, itself included: what the paper prints, and what lets pure noise look informative.
    """
    from steelyard.voting import kernels

    z = clipped_logit(pool.known_scores, clip)
    kind = np.where(pool.readable & ~np.isnan(z), pool.correct, -1).astype(np.int64)
    ratio = np.empty(pool.n_responses)
    kernels.question_ratios(pool.starts, np.nan_to_num(z), kind, 2 if crossfit else 1, ratio)
    return ratio


def question_odds(pool: LabelledPool) -> NDArray[np.float64]:
    """Return the LLM term of every response [R] from the question's true accuracy q_M."""
    hits = np.add.reduceat(pool.correct.astype(np.float64), pool.starts[:-1])
    return pool.spread(log_odds(inside(hits / pool.sizes, pool.sizes), pool.m))


def inside(q: NDArray[np.float64], n: NDArray[np.int64]) -> NDArray[np.float64]:
    """Keep a share seen in n responses half a response away from 0 and 1."""
    return np.clip(q, 0.5 / n, 1 - 0.5 / n)


def log_odds(q: NDArray[np.float64], m: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the LLM term log(q (m - 1) / (1 - q)); a lone answer (m = 1) has no rival to divide by."""
    return np.log(q) - np.log1p(-q) + np.log(np.maximum(m - 1, 1))


def _bin(p: Floats, bins: int) -> NDArray[np.int64]:
    return np.minimum((np.asarray(p, np.float64) * bins).astype(np.int64), bins - 1)
