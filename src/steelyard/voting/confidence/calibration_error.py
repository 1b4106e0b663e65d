"""Does a confidence of 70 % mean 70 %? Verdicts in bins of confidence, and the expected calibration error.

    ECE = sum over bins of  (questions in the bin / Q) * |accuracy of the bin - its mean confidence|

The interval of a bin is Wilson's, which stays within 0 and 1 and means something for a handful of questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.voting.pools.arrays import Bools, Floats

BINS = 10
Z = 1.959964  # 95 %


@dataclass(frozen=True)
class Bin:
    """The questions whose confidence lies between `begin` and `end`."""

    begin: float
    end: float
    questions: int
    confidence: float  # mean
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class CalibrationCurve:
    """The bins that hold any question, and how far confidence and accuracy lie apart on average."""

    bins: tuple[Bin, ...]
    ece: float


def calibration_curve(confidence: Floats, correct: Bools) -> CalibrationCurve:
    """Compare confidence [Q] with what was correct [Q] in bins of equal width.

    >>> found = calibration_curve(np.array([0.55, 0.55, 0.95, 0.95]), np.array([True, False, True, True]))
    >>> round(found.ece, 3), [(each.begin, each.questions, each.accuracy) for each in found.bins]
    (0.05, [(0.5, 2, 0.5), (0.9, 2, 1.0)])
    """
    index = np.minimum((np.asarray(confidence) * BINS).astype(np.int64), BINS - 1)
    filled = []
    for i in np.unique(index).tolist():
        here = index == i
        count, share = int(here.sum()), float(correct[here].mean())
        low, high = wilson(share, count)
        filled.append(Bin(i / BINS, (i + 1) / BINS, count, float(confidence[here].mean()), share, low, high))
    ece = sum(one.questions * abs(one.accuracy - one.confidence) for one in filled) / max(1, len(index))
    return CalibrationCurve(tuple(filled), ece)


def wilson(share: float, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of `count` questions.

    >>> [round(end, 3) for end in wilson(0.5, 10)]
    [0.237, 0.763]
    """
    middle = share + Z**2 / (2 * count)
    reach = Z * np.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    scale = 1 + Z**2 / count
    return float((middle - reach) / scale), float((middle + reach) / scale)
