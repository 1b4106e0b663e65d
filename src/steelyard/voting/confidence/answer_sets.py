"""Conformal answer sets: a set of answers that contains the correct one with probability 1 - alpha.

Split conformal prediction (Vovk et al. 2005) on questions kept apart from the fit. With p(answer) the learned
probability that an answer is the correct one, and p_i that of the correct answer of reserved question i,

    set = {answer: p(answer) >= t},    t = the k-th largest p_i,    k = ceil((m + 1) (1 - alpha))

of m reserved questions; the verdict is always in it. For a question like the reserved ones the set contains the correct
answer with a probability of at least 1 - alpha, however good the probabilities are. A correct answer that was never
sampled has p_i = -inf: if t is -inf, only a set with all answers, also those that nobody gave, would do, and there is
no threshold. If more than one answer of a question is correct, the set contains one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import CalibrationError, SettingError
from steelyard.voting.confidence.answer_probabilities import AnswerProbabilities
from steelyard.voting.pools.arrays import Bools, Codes
from steelyard.voting.pools.pool import LabelledPool, Pool

NEVER_SAMPLED = -1.0  # p of a correct answer that is not among the samples, as a plan stores it
SMALLEST = 1e-12  # all probabilities below count as this
ROUNDING = 1e-9


@dataclass(frozen=True)
class AnswerSetThreshold:
    """The least probability of an answer in a set, and how many reserved questions it was found on."""

    alpha: float
    threshold: float
    questions: int
    never_sampled: int  # of these: questions whose correct answer is not among the samples

    def members(self, probabilities: AnswerProbabilities, code: Codes) -> Bools:
        """Which answers of a pool are in the set of their question [places]; `code` are the verdicts [Q]."""
        chosen: Bools = (probabilities.p > 0) & (np.maximum(probabilities.p, SMALLEST) >= self.threshold)
        some = code >= 0
        chosen[(probabilities.offsets + code)[some]] = True
        return chosen


def answer_set_threshold(correct_p: NDArray[np.float64], alpha: float) -> AnswerSetThreshold:
    """Choose the threshold from the probability of the correct answer of each reserved question.

    >>> answer_set_threshold(np.array([0.9, 0.8, 0.3, 0.95, -1, 0.7, 0.9, 0.9, 0.6, 0.5]), 0.2).threshold
    0.3
    """
    if not 0 < alpha < 1:
        raise SettingError(f"the error of an answer set must lie between 0 and 1, not {alpha}")
    questions = len(correct_p)
    fewest = ceil((1 - alpha) / alpha - ROUNDING)
    if questions < fewest:
        raise CalibrationError(
            f"answer sets with an error of {alpha:g} need {fewest} reserved questions, and the plan has {questions}: "
            "label more questions, reserve a larger share or accept a larger error"
        )
    threshold = float(np.sort(correct_p)[::-1][ceil((questions + 1) * (1 - alpha) - ROUNDING) - 1])
    never = int((correct_p < 0).sum())
    if threshold < 0:
        possible = ceil(1000 * (never + 1) / (questions + 1)) / 1000
        raise CalibrationError(
            f"no set of sampled answers has an error of {alpha:g}: on {never} of {questions} reserved questions the "
            f"correct answer was never sampled; accept an error of {possible:g} or more, or draw more samples"
        )
    return AnswerSetThreshold(alpha, threshold, questions, never)


def probability_of_correct(probabilities: AnswerProbabilities, pool: LabelledPool) -> NDArray[np.float64]:
    """Return the probability of the correct answer of each question [Q], the largest of several."""
    correct = answers_correct(pool) & (probabilities.p > 0)
    best = np.full(pool.n_questions, NEVER_SAMPLED)
    p = np.maximum(probabilities.p[correct], SMALLEST)
    np.maximum.at(best, np.repeat(np.arange(pool.n_questions), pool.width)[correct], p)
    return best


def answers_correct(pool: LabelledPool) -> Bools:
    """Which answers are correct, question by question in the order of their codes [places]."""
    return pool.answer_correct[places(pool)]


def places(pool: Pool) -> NDArray[np.int64]:
    """The index of each answer of a pool among its names [places]."""
    offsets = np.cumsum(pool.width) - pool.width
    index: NDArray[np.int64] = np.arange(int(pool.width.sum())) + np.repeat(pool.base - offsets, pool.width)
    return index
