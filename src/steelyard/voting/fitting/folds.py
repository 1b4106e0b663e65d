"""Questions in folds, the same ones whatever the order of the file."""

from __future__ import annotations

import numpy as np

from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import Pool


def shuffled_rank(pool: Pool, seed: int) -> Ints:
    """Return the place of every question in a random order of the question ids [Q]."""
    order: Ints = np.random.default_rng(seed).permutation(pool.n_questions)[pool.rank]
    return order


def fold_of(pool: Pool, folds: int, seed: int) -> Ints:
    """Return the fold 0 .. folds - 1 of every question [Q]; folds differ by at most one question.

    >>> pool = Pool.from_arrays(question=[3, 1, 2, 4], answer=[0, 0, 0, 0])
    >>> np.bincount(fold_of(pool, 2, seed=0)).tolist()
    [2, 2]
    """
    return shuffled_rank(pool, seed) % folds
