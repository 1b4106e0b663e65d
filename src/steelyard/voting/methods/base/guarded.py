"""What a method is worth on questions it has not seen, and the guard of the paper's methods that goes by it.

The guard is off by default, so that they stay the paper's. With it, a method votes by majority unless its verdicts on
held-out calibration questions gain over the majority vote:

    verdicts corrected - verdicts spoilt  >  sqrt(verdicts corrected + verdicts spoilt)

that is one standard error of a paired comparison. (The default, `calibrated`, has a guard that sees more:
fitting/score_evidence.py.)
"""

from __future__ import annotations

import copy
import warnings
from abc import ABC
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import CalibrationError, ScoreError, SteelyardWarning
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.methods.base.calibration_checks import FEWEST_QUESTIONS
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import setting
from steelyard.voting.on_demand.bounds import AnswerBounds, within_range
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.tally import tally

FOLDS = 5


@dataclass(repr=False, eq=False)
class Guarded(Method, ABC):
    """A method with a setting that makes it vote by majority where its weights do not pay."""

    added: ClassVar[tuple[str, ...]] = ("guard", "helps_")

    guard: bool = setting(False, "vote by majority unless held-out verdicts gain more than a standard error")

    helps_: bool = field(default=True, init=False)  # False: the guard found no gain, and every response weighs 1

    def _fit(self, pool: Pool) -> None:
        self.helps_ = True
        super()._fit(pool)
        if self.guard and not self.oracle and isinstance(pool, LabelledPool):
            self.helps_ = self._gains(pool)
            self.fitted_on_ = self._provenance(pool)

    def _gains(self, pool: LabelledPool) -> bool:
        unguarded = type(self)(**{**self.settings(), "guard": False})
        correct = out_of_fold(unguarded, pool, FOLDS, seed=getattr(self, "seed", 0))
        if correct is None:
            return False
        difference = correct - tally(pool, np.ones(pool.n_responses)).correct(pool)
        return bool(difference.sum() > np.sqrt((difference**2).sum()))

    def _guarded(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weights, or those of the majority vote."""
        return weights if self.helps_ else np.ones_like(weights)

    def _guarded_bounds(self, pool: Pool, bounds: AnswerBounds | None) -> AnswerBounds | None:
        return bounds if self.helps_ else within_range(pool, np.ones(pool.n_responses), [1.0])

    def reads_scores(self) -> bool:
        return self.scored and self.helps_


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
