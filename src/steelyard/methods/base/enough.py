"""What a calibration set must have for a method to learn from it."""

from __future__ import annotations

import warnings

import numpy as np

from steelyard.errors import CalibrationError, LabelError, ScoreError, SteelyardWarning
from steelyard.pools.pool import LabelledPool, Pool

FEWEST_QUESTIONS = 10
ENOUGH_QUESTIONS = 50


def check_calibration(pool: Pool) -> None:
    """Refuse a calibration set that cannot teach anything; warn about a small one."""
    if not isinstance(pool, LabelledPool):
        raise LabelError("fitting needs labels: add a column 'correct' (true/false) or 'gold' (the correct answer)")
    if pool.n_questions < FEWEST_QUESTIONS:
        raise CalibrationError(
            f"{pool.n_questions} calibration questions are too few: label at least {FEWEST_QUESTIONS}, "
            f"better {ENOUGH_QUESTIONS} or more (the methods 'majority' and 'vanilla' need none)"
        )
    known = pool.readable if pool.scores is None else pool.readable & ~np.isnan(pool.scores)
    if pool.scores is not None and not known.any() and pool.readable.any():
        raise ScoreError("every score is missing (NaN): choose another score column, or use 'majority'")
    correct = int(pool.correct[known].sum())
    incorrect = int(known.sum()) - correct
    if not correct or not incorrect:
        raise CalibrationError(
            f"the calibration set has {correct} correct and {incorrect} incorrect scored responses: "
            "a weight can only be learned from both kinds; check the labels or add questions"
        )
    if pool.n_questions < ENOUGH_QUESTIONS:
        warnings.warn(
            f"{pool.n_questions} calibration questions are few: the fitted weights are uncertain; "
            f"{ENOUGH_QUESTIONS} or more are better",
            SteelyardWarning,
            stacklevel=3,
        )
