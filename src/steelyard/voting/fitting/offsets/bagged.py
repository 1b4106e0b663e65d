"""The default rule: the mean of the exact optimum over bootstrap resamples of the questions.

The accuracy curve is a jagged step function and its highest step moves with every question; the
mean over resamples stays put. Questions are resampled by repeating their intervals.
"""

from __future__ import annotations

import numpy as np

from steelyard.voting.fitting.offsets.exact import Intervals
from steelyard.voting.pools.arrays import Ints


def bagged(intervals: Intervals, rank: Ints, *, bags: int = 30, seed: int = 0) -> float:
    """Return the mean chosen offset of `bags` resamples.

    `rank` [Q] is the place of each question in the order of ids, so that the draws do not depend
    on the order of the file. A resample may choose the majority limit; when at least half of them
    do, the result is that limit, otherwise it is the mean of the others.
    """
    rng = np.random.default_rng(seed)
    size = len(intervals.majority)
    even = np.full(size, 1 / size)
    chosen = np.array([intervals.curve(rng.multinomial(size, even)[rank]).chosen for _ in range(bags)])
    finite = np.isfinite(chosen)
    return float(chosen[finite].mean()) if finite.sum() > bags / 2 else -np.inf
