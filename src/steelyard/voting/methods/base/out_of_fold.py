"""What a method is worth on questions it has not seen: fits on some folds decide the others."""

from __future__ import annotations

import copy
import warnings

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import CalibrationError, ScoreError, SteelyardWarning
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.methods.base.enough import FEWEST_QUESTIONS
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool


def out_of_fold(
    method: Method, pool: LabelledPool, folds: int, *, fitted_on_one: bool = False, seed: int = 0
) -> NDArray[np.float64] | None:
    """Return how often each question is right [Q] when decided by fits on other folds; None where none can be fitted.

    A fit sees all folds but one and decides that one; `fitted_on_one`: sees one fold and decides all others.
    """
    fold = fold_of(pool, folds, seed)
    correct, times = np.zeros(pool.n_questions), np.zeros(pool.n_questions)
    for k in range(folds):
        seen = np.flatnonzero((fold == k) == fitted_on_one)
        rest = np.flatnonzero((fold == k) != fitted_on_one)
        if len(seen) < FEWEST_QUESTIONS or not len(rest):
            return None
        held = pool.take(rest)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SteelyardWarning)
                fitted = copy.deepcopy(method).fit(pool.take(seen))
        except (CalibrationError, ScoreError):
            return None
        correct[rest] += fitted.predict(held.unlabelled()).correct(held)
        times[rest] += 1
    return correct / times
