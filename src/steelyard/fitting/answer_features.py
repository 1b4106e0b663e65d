"""The answers of every question, and the five things a vote can know of each.

    votes   log n_k           how many responses gave it, with falling returns: samples of one LLM repeat themselves
    mean    log mean p_i      the mean score of those
    best    max z_i           the best evidence for it (z = logit of the score)
    sum     sum z_i / N       all evidence for it
    share   n_k / N           its share of the votes

Majority vote reads the first, vanilla weighted voting the first two (log n + log mean p = log sum p), best-of-N the
third, and the paper's weighted votes the last two: a sum of weights a z_i - b is a straight line of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.pools.arrays import Bools, Ints
from steelyard.pools.pool import LabelledPool, Pool

FEATURES = ("votes", "mean", "best", "sum", "share")


@dataclass(frozen=True)
class Slate:
    """The answers of a pool that were given, question by question."""

    starts: Ints  # [Q'] where the answers of each question begin; questions without any are not here
    question: Ints  # [Q']
    x: NDArray[np.float64]  # [K, 5]
    right: Bools  # [K] all False without labels

    @property
    def sizes(self) -> Ints:
        """Answers a question [Q']."""
        return np.diff(np.append(self.starts, len(self.x)))

    def take(self, keep: Bools) -> Slate:
        """Keep some of the questions [Q']."""
        rows, sizes = np.repeat(keep, self.sizes), self.sizes[keep]
        return Slate(np.cumsum(sizes) - sizes, self.question[keep], self.x[rows], self.right[rows])

    @property
    def open(self) -> Bools:
        """Which questions have a right and a wrong answer [Q']: the others teach nothing."""
        hits = np.add.reduceat(self.right.astype(np.int64), self.starts) if len(self.x) else np.empty(0, np.int64)
        return (hits > 0) & (hits < self.sizes)


def slate(pool: Pool, z: NDArray[np.float64]) -> Slate:
    """Gather the answers of a pool; z [R] is finite and in the grain of the tally."""
    found = gathered(pool, z)
    given = found.n > 0
    which = np.repeat(np.arange(pool.n_questions), pool.width)[given]
    question, starts = np.unique(which, return_index=True)
    size = pool.sizes[which]
    n, heard, total, top = found.n[given], found.heard[given], found.total[given], found.top[given]
    x = np.stack((np.log(n), np.log(heard / n), top, total / size, n / size), axis=1)
    right = np.zeros(len(which), bool)
    if isinstance(pool, LabelledPool):
        right = pool.right[pool.base[which] + np.flatnonzero(given) - found.offsets[which]]
    return Slate(starts, question, x, right)


@dataclass(frozen=True)
class Gathered:
    """What the responses of each answer add up to; an answer that nobody gave has its place too."""

    offsets: Ints  # [Q] where each question's answers begin
    n: Ints  # [places] votes
    heard: NDArray[np.float64]  # summed scores
    total: NDArray[np.float64]  # summed evidence
    top: NDArray[np.float64]  # best evidence


def gathered(pool: Pool, z: NDArray[np.float64]) -> Gathered:
    """Add up the evidence z [R] of every answer."""
    from steelyard import kernels

    places = int(pool.width.sum())
    found = Gathered(
        np.cumsum(pool.width) - pool.width,
        np.zeros(places, np.int64),
        *(np.zeros(places) for _ in range(3)),
    )
    kernels.gather(pool.starts, found.offsets, pool.answer, z, found.n, found.heard, found.total, found.top)
    return found
