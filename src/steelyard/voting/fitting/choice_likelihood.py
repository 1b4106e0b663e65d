"""The likelihood of a conditional logit: how likely the correct answers are under softmax(theta . x)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Bools, Ints


def log_likelihood(
    starts: Ints, x: NDArray[np.float64], correct: Bools, theta: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return the log-likelihood, its gradient, and minus its Hessian (that of the normalising term)."""
    from steelyard.voting import kernels

    gradient, hessian = np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
    value: float = kernels.log_likelihood(starts, x, correct, theta, gradient, hessian)
    return value, gradient, hessian
