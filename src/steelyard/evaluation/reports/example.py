"""Which ballot to show first: one that explains the vote, not the first in the alphabet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.reports.summary import Case
from steelyard.voting.pools.arrays import Bools, Floats

ANSWERS = (3, 6)  # so many answers fit one look, and show more than one bar
SURE = (0.6, 0.97)  # a verdict that is sure, and has a rival left to see


def first_shown(case: Case) -> int:
    """The test question whose verdict overturns a wrong majority most clearly, else one that is clearly correct.

    Clear is: the responses of the verdict have higher scores than those of its strongest rival, and the
    verdict is sure. Ballots that show most in one look go first: a few answers, and a rival that still has a chance.
    """
    mine, majority = case.verdicts[case.method.name], case.verdicts["majority"]
    correct, before = mine.correct(case.test), majority.correct(case.test)
    sure = mine.weight_share if mine.p_correct is None else mine.p_correct
    handy = (mine.votes > 1) & _between(case.test.m, ANSWERS) & _between(sure, SURE)
    clear = _lead(case) * sure
    for wanted in (correct & ~before & handy, correct & ~before, correct & handy, correct):
        if wanted.any():
            return int(np.argmax(np.where(wanted, clear, -np.inf)))
    return 0


def _between(values: NDArray[Any], ends: tuple[float, float]) -> Bools:
    return (values >= ends[0]) & (values <= ends[1])


def _lead(case: Case) -> Floats:
    """By how much the mean score of the verdict's responses leads that of its rival with most votes [Q]; 0 without."""
    test, code = case.test, case.verdicts[case.method.name].code
    if test.scores is None:
        return np.zeros(test.n_questions)
    known = ~np.isnan(test.scores)
    own = test.readable & (test.answer == test.spread(code))
    places = test.spread(np.cumsum(test.width) - test.width) + np.maximum(test.answer, 0)
    votes = np.bincount(places[test.readable & ~own], minlength=int(test.width.sum()))
    most = np.maximum.reduceat(votes, np.cumsum(test.width) - test.width) if len(votes) else votes
    rival = test.readable & ~own & (votes[places] == test.spread(most))
    own_mean, rival_mean = (_mean(case, mask & known) for mask in (own, rival))
    return np.nan_to_num(own_mean - rival_mean)


def _mean(case: Case, rows: Bools) -> Floats:
    """The mean score of these responses by question [Q]; NaN where there is none."""
    question = case.test.spread(np.arange(case.test.n_questions))[rows]
    count = np.bincount(question, minlength=case.test.n_questions)
    total = np.bincount(question, case.test.known_scores[rows], case.test.n_questions)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
