"""A fitted method, or the majority vote where the labels can teach nothing."""

from __future__ import annotations

import warnings
from copy import deepcopy

from steelyard.foundation.errors import NothingToLearnError, SteelyardWarning
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.majority import MajorityVote
from steelyard.voting.pools.pool import Pool


def fit_or_majority(method: Method, cal: Pool, n: int | None = None) -> Method:
    """Return a fitted copy of the method; the majority vote, with a warning, where there is nothing to learn."""
    try:
        return deepcopy(method).fit(cal, n=n)
    except NothingToLearnError as nothing:
        warnings.warn(str(nothing), SteelyardWarning, stacklevel=3)
        return MajorityVote().fit(cal, n=n)
