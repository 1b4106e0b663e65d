"""The logistic function."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def expit(z: ArrayLike) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-z)), the inverse of the logit, without overflow.

    >>> expit([-np.inf, 0.0, 800.0])
    array([0. , 0.5, 1. ])
    """
    return np.asarray(0.5 * (1 + np.tanh(0.5 * np.asarray(z, np.float64))))
