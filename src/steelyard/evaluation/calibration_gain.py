"""What calibration changes against majority vote: the verdicts, and the gain over the number of calibration questions.

In the learning curve each question is decided by a fit on other questions; their number is the size, including those
that the method reserves. The gain is paired with the majority vote on the same questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.voting.methods import method_class
from steelyard.voting.methods.base.assessable import Assessable
from steelyard.voting.methods.base.guarded import out_of_fold
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.pools.verdicts import Verdicts


def plan_changes(vote: Method, plan: Verdicts, majority: Verdicts) -> str:
    """Describe what a method learned, and how many of these verdicts differ from those of the majority vote."""
    learned = vote.described() if isinstance(vote, Assessable) else "the weights were learned"
    return (
        f"{vote.name}: {learned}. On these {len(plan):,} questions it changes "
        f"{changed_verdicts(plan, majority):,} verdicts of the majority vote."
    )


def changed_verdicts(plan: Verdicts, majority: Verdicts) -> int:
    """Return the number of questions on which a plan and the majority vote differ."""
    return int((plan.code != majority.code).sum())


@dataclass(frozen=True)
class LearningPoint:
    """The gain of a method fitted on `questions` labelled questions, measured on others."""

    questions: int
    gain: float
    se: float
    over: str


def learning_curve(method: Method, pool: LabelledPool, *, over: str = "majority", seed: int = 0) -> list[LearningPoint]:
    """Return the gain at rising sizes: an eighth, a quarter, a half and four fifths of the questions.

    Sizes too small to learn from are left out.
    """
    points = []
    base = method_class(over)().predict(pool.unlabelled()).correct(pool).astype(np.float64)
    for folds, fitted_on_one in ((8, True), (4, True), (2, True), (5, False)):
        correct = out_of_fold(method, pool, folds, fitted_on_one=fitted_on_one, seed=seed)
        if correct is not None:
            size = round(pool.n_questions * (1 / folds if fitted_on_one else 1 - 1 / folds))
            gain = correct - base
            points.append(LearningPoint(size, float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(len(gain))), over))
    return points
