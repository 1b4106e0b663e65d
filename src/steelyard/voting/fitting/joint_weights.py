"""What voices are worth together, from how often each is correct and how much they err together.

    z_v = log( p_v / (1 - p_v) ) - log e       the paper's log-odds of reliability: e stands for 1 / (m - 1)
    w   = argmax over w >= 0 of  w . z / sqrt( w' C w ),   C = 1 on the diagonal, r beside it
        = z_v - t where that is positive,   t = r sum z / (1 + (n - 1) r)  over the n voices that are left

p: the chance that a voice is correct; e: that two wrong ones give the same answer; r: the correlation of their being
correct. Alone (r = 0) every voice counts by its log-odds. The more they err together, the less a mediocre voice adds
to the good ones, until only those above t count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
LEAST, MOST = 0.002, 0.998  # a chance is kept between these
CLOSEST = 0.95  # the highest correlation


def joint_weights(p: Vector, same_error: float, correlation: float) -> Vector:
    """Return the weights [V], none negative; all 1 where no voice is better than chance.

    >>> joint_weights(np.array([0.9, 0.6, 0.6]), 0.5, 0.0).round(2)
    array([2.89, 1.1 , 1.1 ])
    >>> joint_weights(np.array([0.9, 0.6, 0.6]), 0.5, 0.5).round(2)
    array([1.45, 0.  , 0.  ])
    """
    inside = np.clip(p, LEAST, MOST)
    z = np.log(inside / (1 - inside)) - np.log(same_error)
    falling = np.sort(z[z > 0])[::-1]
    if not len(falling):
        return np.ones(len(p))
    n = np.arange(1, len(falling) + 1)
    bar = correlation * np.cumsum(falling) / (1 + (n - 1) * correlation)
    weights = np.maximum(0.0, z - bar[np.flatnonzero(falling > bar)[-1]])
    return weights if weights.max() > 1e-6 else np.ones(len(p))


def mean_correlation(right: NDArray[np.floating], asked: NDArray[np.floating]) -> float:
    """Return the mean correlation of two voices' being correct over questions; from right and asked [Q, V].

    >>> round(mean_correlation(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.ones((4, 2))), 2)
    0.58
    """
    count = np.maximum(asked.sum(axis=0), 1)
    away = np.where(asked > 0, right - right.sum(axis=0) / count, 0.0)
    spread = np.sqrt((away**2).sum(axis=0) / count)
    varies = spread > 1e-9
    if varies.sum() < 2:
        return CLOSEST
    standard, there = away[:, varies] / spread[varies], asked[:, varies]
    whole = (standard.sum(axis=1) ** 2).sum() - (standard**2).sum()
    pairs = (there.sum(axis=1) ** 2).sum() - (there**2).sum()
    return float(np.clip(whole / max(pairs, 1.0), 0.0, CLOSEST))
