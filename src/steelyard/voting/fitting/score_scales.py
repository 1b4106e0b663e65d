"""Scores on any scale made comparable: the logit of a probability, or the logit of a score's rank among others.

    logit   z = log p / (1 - p)                                                             for p in [0, 1]
    rank    z = log r / (1 - r),   r = (scores below + scores equal / 2 + 1/2) / (K + 1)    for any numbers

The rank is taken among K reference scores, those of the calibration responses or K quantiles of them. It depends on
their order alone: any increasing transformation of a score changes nothing, so a reward model with values from -20 to
30 and a judge with grades from 1 to 10 can be mixed. Equal grades have equal ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import PlanError
from steelyard.voting.pools.arrays import Floats
from steelyard.voting.score_weights import clipped_logit

Array = NDArray[np.float64]
REFERENCES = 512  # per score: the most that a plan stores


def references(scores: Floats) -> Array:
    """Return the known scores in ascending order, or REFERENCES quantiles of them.

    >>> references(np.array([3.0, np.nan, -1.0, 3.0])).tolist()
    [-1.0, 3.0, 3.0]
    """
    ordered = np.sort(np.asarray(scores, np.float64)[~np.isnan(scores)])
    if len(ordered) <= REFERENCES:
        return ordered
    return ordered[((np.arange(REFERENCES) + 0.5) / REFERENCES * len(ordered)).astype(np.int64)]


def rank_logit(scores: Floats, reference: Array) -> Array:
    """Return the logit of every score's rank among the reference scores; NaN for a missing score.

    >>> rank_logit(np.array([5.0, 7.0, 9.0, np.nan]), np.array([6.0, 7.0, 8.0])).round(2)
    array([-1.95,  0.  ,  1.95,   nan])
    """
    x = np.asarray(scores, np.float64)
    below, up_to = (reference.searchsorted(x, side) for side in ("left", "right"))
    rank = ((below + up_to) / 2 + 0.5) / (len(reference) + 1)
    return np.where(np.isnan(x), np.nan, np.log(rank / (1 - rank)))


def scaled(scores: Floats, reference: Array | None) -> Array:
    """Return the logit of every score, or of its rank if there are reference scores."""
    return clipped_logit(scores) if reference is None else rank_logit(scores, reference)


def read_references(stored: Any, count: int) -> tuple[Array, ...] | None:
    """Return the reference scores of a plan, one array per score; refuse damaged ones."""
    if stored is None:
        return None
    try:
        arrays = tuple(np.array(values, np.float64) for values in stored)
    except (TypeError, ValueError):
        raise PlanError("its mix of scores is damaged: the reference scores are not numbers") from None
    valid = len(arrays) == count and all(a.ndim == 1 and 1 <= len(a) <= REFERENCES for a in arrays)
    if not valid or not all(np.isfinite(a).all() and (np.diff(a) >= 0).all() for a in arrays):
        raise PlanError(f"its mix of scores is damaged: it needs up to {REFERENCES} ascending numbers for each score")
    return arrays
