"""The vector a whose products a_u a_v are closest to the entries of a symmetric matrix beside its diagonal.

    a_v = sum over u of C_uv a_u / sum over u of a_u^2,  u not v        again and again, half a step at a time

The diagonal is left out: what a thing has in common with itself says nothing of what it has in common with others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
ROUNDS = 100


def rank_one(matrix: NDArray[np.float64], low: float, high: float) -> Vector:
    """Return a [V], kept between low and high, from a matrix [V, V] with zeros on its diagonal.

    >>> a = np.array([0.9, 0.5, 0.4])
    >>> rank_one(np.outer(a, a) * (1 - np.eye(3)), 0.0, 1.0).round(3)
    array([0.9, 0.5, 0.4])
    """
    a = np.sqrt(np.maximum(matrix.sum(axis=1) / max(len(matrix) - 1, 1), 1e-6))
    for _ in range(ROUNDS):
        a = np.clip(0.5 * a + 0.5 * (matrix @ a) / np.maximum((a**2).sum() - a**2, 1e-9), low, high)
    return np.asarray(a, np.float64)
