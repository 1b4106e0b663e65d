"""How many calibration questions are enough? What a method gains when it learns from fewer.

Each question is decided by a fit on other questions; how many those are is the size, with those that the method
reserves among them. The gain is paired with the majority vote on the same questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.voting.methods import method_class
from steelyard.voting.methods.base.guarded import out_of_fold
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool


@dataclass(frozen=True)
class Learned:
    """The gain of a method that was given `questions` labelled questions, on questions it has not seen."""

    questions: int
    gain: float
    se: float
    over: str


def learning_curve(method: Method, pool: LabelledPool, *, over: str = "majority", seed: int = 0) -> list[Learned]:
    """Return the gain at rising sizes: an eighth, a quarter, a half and four fifths of the questions.

    Sizes too small to learn from are left out.
    """
    found = []
    base = method_class(over)().predict(pool.unlabelled()).correct(pool).astype(np.float64)
    for folds, fitted_on_one in ((8, True), (4, True), (2, True), (5, False)):
        correct = out_of_fold(method, pool, folds, fitted_on_one=fitted_on_one, seed=seed)
        if correct is not None:
            size = round(pool.n_questions * (1 / folds if fitted_on_one else 1 - 1 / folds))
            gain = correct - base
            found.append(Learned(size, float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(len(gain))), over))
    return found
