"""How often conformal answer sets contain the correct answer, and how large they are, on other labelled questions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.evaluation.accuracy import Paired, need_labels
from steelyard.foundation.errors import SettingError
from steelyard.voting.confidence.answer_sets import answers_correct
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool


class AnswerSetCoverage(NamedTuple):
    """Means over questions, with standard errors.

    >>> AnswerSetCoverage(Paired(0.91, 0.02), Paired(1.4, 0.1)).coverage.mean
    0.91
    """

    coverage: Paired  # share of sets that contain a correct answer
    size: Paired  # answers per set


def answer_set_coverage(plan: Method, test: LabelledPool, alpha: float) -> AnswerSetCoverage:
    """Measure the answer sets of a plan on labelled questions that it was not fitted on.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(400, 8)).split(0.5, seed=0)
    >>> measured = answer_set_coverage(sy.CalibratedVote(reserve=0.5).fit(cal), test, 0.3)
    >>> measured.coverage.mean > 0.6, measured.size.mean >= 1
    (True, True)
    """
    sets = plan.answer_sets(alpha)
    bare = need_labels(test).unlabelled()
    probabilities = plan.answer_probabilities(bare)
    if probabilities is None:
        raise SettingError(f"{plan.name} learns no probability of each answer: fit 'calibrated'")
    members = sets.members(probabilities, plan.decide(bare).code)
    question = np.repeat(np.arange(test.n_questions), test.width)
    covered = np.bincount(question, members & answers_correct(test), test.n_questions) > 0
    size = np.bincount(question, members, test.n_questions).astype(np.float64)
    return AnswerSetCoverage(Paired.of(covered.astype(np.float64)), Paired.of(size))
