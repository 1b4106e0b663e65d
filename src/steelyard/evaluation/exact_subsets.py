"""Pass@n and best-of-n over all subsets of n samples, without drawing any (kernels/ has the formulas)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import LabelledPool

EXACT = 12  # digits; the sum over score levels carries no more


def pass_at_n(pool: LabelledPool, sizes: Sequence[int] | Ints) -> NDArray[np.float64]:
    """Return the chance that n samples of a question hold a right one [Q, S]: 1 - C(N - c, n) / C(N, n).

    >>> pool = LabelledPool.from_arrays(question=[0] * 4, answer=[5, 6, 6, 7], correct=[True, False, False, False])
    >>> pass_at_n(pool, [1, 2, 4])
    array([[0.25, 0.5 , 1.  ]])
    """
    from steelyard.voting import kernels

    share = np.empty((pool.n_questions, len(sizes)))
    kernels.pass_at(pool.starts, pool.correct, np.asarray(sizes, np.int64), share)
    return share


def best_of_n(pool: LabelledPool, sizes: Sequence[int] | Ints) -> NDArray[np.float64]:
    """Return the chance that best-of-n is right on n samples of a question [Q, S], ties at the top included.

    Two samples share the top score. Both are drawn in one of three pairs, and are seen first equally often:

    >>> pool = LabelledPool.from_arrays(question=[0] * 3, answer=[5, 6, 7], scores=[0.9, 0.9, 0.1], correct=[1, 0, 0])
    >>> best_of_n(pool, [1, 2]).round(3)
    array([[0.333, 0.5  ]])
    """
    from steelyard.voting import kernels

    share = np.empty((pool.n_questions, len(sizes)))
    wanted = np.asarray(sizes, np.int64)
    scores = kernels.read_only(pool.known_scores)
    kernels.best_of(pool.starts, pool.width, pool.answer, scores, pool.correct, wanted, share)
    return share.round(EXACT)
