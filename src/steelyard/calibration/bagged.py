"""The default rule: the mean of the exact optimum over bootstrap resamples of the questions.

The accuracy curve is a jagged step function and its highest step moves with every question; the
mean over resamples stays put. Questions are resampled by repeating their intervals.
"""

from __future__ import annotations

import numpy as np

from steelyard.calibration.exact import Intervals


def bagged(intervals: Intervals, *, bags: int = 30, seed: int = 0) -> float:
    """Return the mean chosen offset of `bags` resamples.

    A resample may choose a limit (the majority vote). When at least half of them do, the result
    is that limit; otherwise it is the mean of the others.
    """
    rng = np.random.default_rng(seed)
    even = np.full(intervals.questions, 1 / intervals.questions)
    chosen = np.array([intervals.curve(rng.multinomial(intervals.questions, even)).chosen for _ in range(bags)])
    middle = float(np.sort(chosen)[(bags - 1) // 2])
    return middle if np.isinf(middle) else float(chosen[np.isfinite(chosen)].mean())
