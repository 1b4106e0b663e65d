"""The rising curve closest to the labels, shrunk towards a smooth one where labels are few.

    pool adjacent violators: neighbours that fall are averaged until none does

A step that rests on n responses keeps n / (n + 150) of itself; the rest is the smooth curve.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Bools, Floats

HALFWAY = 150  # responses at which data and smooth curve count the same


def shrunk_isotonic(
    p: Floats, correct: Bools, smooth: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return distinct scores, rising, and the probability at each.

    >>> flat = np.full(4, 0.5)
    >>> shrunk_isotonic(np.array([0.1, 0.2, 0.3, 0.3]), np.array([True, False, True, True]), flat)[1].round(4)
    array([0.5   , 0.5   , 0.5066])
    """
    scores, first, inverse, count = np.unique(p, return_index=True, return_inverse=True, return_counts=True)
    value, weight = violators_pooled(np.bincount(inverse, correct) / count, count.astype(np.float64))
    part = weight / (weight + HALFWAY)
    return scores.astype(np.float64), np.maximum.accumulate(part * value + (1 - part) * smooth[first])


def violators_pooled(
    value: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the closest rising sequence, and how much weight stands behind each of its steps.

    >>> violators_pooled(np.array([0.0, 1.0, 0.5]), np.ones(3))
    (array([0.  , 0.75, 0.75]), array([1., 2., 2.]))
    """
    means: list[float] = []
    weights: list[float] = []
    sizes: list[int] = []
    for v, w in zip(value.tolist(), weight.tolist(), strict=True):
        mean, total, size = v, w, 1
        while means and means[-1] >= mean:
            before, more = means.pop(), weights.pop()
            mean = (before * more + mean * total) / (more + total)
            total, size = total + more, size + sizes.pop()
        means.append(mean)
        weights.append(total)
        sizes.append(size)
    return np.repeat(means, sizes), np.repeat(weights, sizes)
