"""Weights rounded to the quantum in which the tally adds, 2^-36: equal in exact arithmetic is equal here."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def quantize(z: ArrayLike) -> NDArray[np.float64]:
    """Round to a multiple of 2^-36.

    >>> quantize([0.5, 1e-16]).tolist()
    [0.5, 0.0]
    """
    from steelyard.voting import kernels

    moved = np.asarray(z, np.float64) + kernels.QUANTIZER
    return np.subtract(moved, kernels.QUANTIZER)
