"""Log-odds that are not quite meant as they stand: a line through them, held near what they say.

    maximise  sum log Bernoulli(y; sigma(a + b x)) - 2 a^2 / 2 - 20 (b - 1)^2 / 2

x: log-odds; y: what happened. With few outcomes the line is x itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.newton import maximise, ridge
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.logistic import expit

PENALTY = np.array([2.0, 20.0])  # of what is added to the intercept 0 and to the slope 1


def log_odds_line(x: NDArray[np.float64], happened: Bools) -> tuple[float, float]:
    """Return intercept and slope; a slope below 0 is taken as 0.

    >>> log_odds_line(np.empty(0), np.empty(0, bool))
    (0.0, 1.0)
    >>> a, b = log_odds_line(np.full(400, 2.0), np.arange(400) % 2 == 0)  # they say 88 %, and it is 50 %
    >>> abs(a + 2 * b) < 0.1
    True
    """
    design = np.stack((np.ones_like(x), x))

    def likelihood(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        z = x + theta @ design
        p = expit(z)
        value = float((happened * z - np.logaddexp(0.0, z)).sum())
        return value, design @ (happened - p), (design * (p * (1 - p))) @ design.T

    more = maximise(ridge(likelihood, PENALTY), np.zeros(2))
    return float(more[0]), float(max(0.0, 1 + more[1]))
