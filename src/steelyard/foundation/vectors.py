"""Vectors as runs store them: 16-bit integers, the largest entry 32,767 or -32,767, because only directions count.

The rounding moves a cosine by less than 1e-4, a vector takes a quarter of its size in 64-bit floats, and sums of
products of such integers are exact, so that cosines are equal on all machines.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 32767
MAX_DIMENSIONS = 1 << 16
STORED = np.dtype("<i2")

Vector = NDArray[np.int16]


def scaled(values: Any) -> Vector:
    """Round a list of numbers to 16-bit integers; raises a ValueError if it has no direction.

    >>> scaled([0.5, -1.0, 0.0]).tolist()
    [16384, -32767, 0]
    >>> scaled([1.0, float("nan")])
    Traceback (most recent call last):
    ValueError: the vector contains NaN or infinite values
    """
    try:
        vector = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("the vector is not a list of numbers") from None
    if vector.ndim != 1 or not 0 < len(vector) <= MAX_DIMENSIONS:
        raise ValueError(f"the vector is not a list of 1 to {MAX_DIMENSIONS:,} numbers")
    if not np.isfinite(vector).all():
        raise ValueError("the vector contains NaN or infinite values")
    largest = np.abs(vector).max()
    if largest == 0:
        raise ValueError("all numbers of the vector are 0")
    return np.asarray(np.rint(vector / largest * LARGEST), np.int16)


def encode(vector: Vector) -> str:
    """Return the base64 of a vector, 8 characters per 3 numbers.

    >>> encode(scaled([1.0, -1.0]))
    '/38BgA=='
    """
    return b64encode(vector.astype(STORED).tobytes()).decode()


def decode(text: str) -> Vector:
    """Return the vector of a base64 text; raises a ValueError if it is not one.

    >>> decode("/38BgA==").tolist()
    [32767, -32767]
    """
    return np.frombuffer(b64decode(text, validate=True), STORED).astype(np.int16)
