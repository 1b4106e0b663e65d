"""Scores that are relative to the other responses of their question, such as the length of a response.

    score = sigma(z),    z = (x - median) / spread,    |z| <= LIMIT

over the responses of one source to one question. The spread is 1.4826 median|x - median|, the standard deviation of a
normal sample; where more than half of the values are equal it is 1.2533 mean|x - median|; where all are, z = 0.

z is the same if every x is scaled or shifted alike, so the scores of a subset of the responses follow from the scores
themselves: the first n samples are standardised without the samples after them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.scores import expit

LIMIT = 20.0  # far beyond the logit at which methods clip; sigma(20) is still told from 1
MEDIAN_TO_SD, MEAN_TO_SD = 1.4826, 1.2533
Array = NDArray[np.float64]


def relative_scores(values: Array, group: Ints) -> Array:
    """Standardise values [R] within their groups [R] and map them into (0, 1); NaN stays NaN.

    >>> relative_scores(np.log([100.0, 200.0, 400.0, 90.0]), np.array([0, 0, 0, 1])).round(3)
    array([0.337, 0.5  , 0.663, 0.5  ])
    """
    scores = np.full(len(values), np.nan)
    rows = np.flatnonzero(~np.isnan(values))
    if not len(rows):
        return scores
    x, codes = values[rows], np.unique(group[rows], return_inverse=True)[1].ravel()
    distance = x - _medians(x, codes)[codes]
    spread = MEDIAN_TO_SD * _medians(np.abs(distance), codes)
    spread = np.where(spread > 0, spread, MEAN_TO_SD * _means(np.abs(distance), codes))[codes]
    z = np.divide(distance, spread, out=np.zeros_like(distance), where=spread > 0)
    scores[rows] = expit(np.clip(z, -LIMIT, LIMIT))
    return scores


def standardised_again(scores: Array, group: Ints) -> Array:
    """Standardise the scores of some of the responses [R] that were standardised together.

    >>> whole = relative_scores(np.array([1.0, 2.0, 4.0, 3.5]), np.zeros(4, int))
    >>> part = relative_scores(np.array([1.0, 2.0, 4.0]), np.zeros(3, int))
    >>> np.allclose(standardised_again(whole[:3], np.zeros(3, int)), part)
    True
    """
    return relative_scores(np.log(scores) - np.log1p(-scores), group)


def _sorted(values: Array, codes: Ints) -> tuple[Array, Ints, Ints]:
    """Return the values sorted within their groups, where each group begins, and its size."""
    sizes = np.bincount(codes)
    return values[np.lexsort((values, codes))], np.cumsum(sizes) - sizes, sizes


def _medians(values: Array, codes: Ints) -> Array:
    ordered, begins, sizes = _sorted(values, codes)
    middle: Array = (ordered[begins + (sizes - 1) // 2] + ordered[begins + sizes // 2]) / 2
    return middle


def _means(values: Array, codes: Ints) -> Array:
    ordered, begins, sizes = _sorted(values, codes)  # summed in sorted order: the order of rows does not matter
    mean: Array = np.add.reduceat(ordered, begins) / sizes
    return mean
