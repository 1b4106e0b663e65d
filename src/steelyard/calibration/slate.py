"""The answers of every question, and the four things a vote can know of each.

    votes   log n_k           how many responses gave it, with falling returns: samples of one LLM repeat themselves
    best    max z_i           the best evidence for it
    sum     sum z_i / N       all evidence for it (z = logit of the score)
    share   n_k / N           its share of the votes

Majority vote reads the first, best-of-N the second, and the paper's weighted votes the last two: a sum of
weights a z_i - b is a straight line of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Bools, Ints
from steelyard.pool import LabelledPool, Pool

FEATURES = ("votes", "best", "sum", "share")


@dataclass(frozen=True)
class Slate:
    """The answers of a pool that were given, question by question."""

    starts: Ints  # [Q'] where the answers of each question begin; questions without any are not here
    question: Ints  # [Q']
    x: NDArray[np.float64]  # [K, 4]
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
    offsets, n, total, top = gathered(pool, z)
    given = n > 0
    which = np.repeat(np.arange(pool.n_questions), pool.width)[given]
    question, starts = np.unique(which, return_index=True)
    size = pool.sizes[which]
    x = np.stack((np.log(n[given]), top[given], total[given] / size, n[given] / size), axis=1)
    right = np.zeros(len(which), bool)
    if isinstance(pool, LabelledPool):
        right = pool.right[pool.base[which] + np.flatnonzero(given) - offsets[which]]
    return Slate(starts, question, x, right)


def gathered(pool: Pool, z: NDArray[np.float64]) -> tuple[Ints, Ints, NDArray[np.float64], NDArray[np.float64]]:
    """Return where each question's answers stand [Q], and votes, summed and best evidence of each place."""
    from steelyard import kernels

    offsets = np.cumsum(pool.width) - pool.width
    places = int(pool.width.sum())
    n, total, top = np.zeros(places, np.int64), np.zeros(places), np.zeros(places)
    kernels.gather(pool.starts, offsets, pool.answer, z, n, total, top)
    return offsets, n, total, top
