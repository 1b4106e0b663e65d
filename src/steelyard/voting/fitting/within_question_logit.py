"""A conditional logit within questions: is a score higher for the right responses to a question than for the wrong?

The formula is in mixing.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.solvers import maximise, ridge
from steelyard.voting.pools.arrays import Bools, Ints

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WithinQuestionLogit:
    """The responses of the questions that have both right and wrong ones, question by question."""

    starts: Ints  # [Q']
    question: Ints  # [R'] 0 .. Q' - 1
    x: Array  # [R', V]
    correct: Bools  # [R']

    @classmethod
    def of(cls, question: Ints, x: Array, correct: Bools) -> WithinQuestionLogit:
        """Keep what can teach; the responses of each question stand together."""
        size, hits = np.bincount(question), np.bincount(question, correct)
        keep = ((hits > 0) & (hits < size))[question]
        _, starts, which = np.unique(question[keep], return_index=True, return_inverse=True)
        return cls(starts, which, x[keep], correct[keep])

    def likelihood(self, c: Array) -> tuple[float, Array, Array]:
        """Return l(c), its gradient [V] and its curvature, turned positive [V, V]."""
        u = self.x @ c
        u -= np.maximum.reduceat(u, self.starts)[self.question]
        e = np.exp(u)
        wrong = np.where(self.correct, 0.0, e)
        mine = self.question[self.correct]
        w = 1.0 / np.bincount(self.question, self.correct)[mine]
        total = e[self.correct] + np.add.reduceat(wrong, self.starts)[mine]
        around = np.add.reduceat(wrong[:, None] * self.x, self.starts)[mine]
        mean = (e[self.correct, None] * self.x[self.correct] + around) / total[:, None]
        share = wrong * np.bincount(mine, w / total)[self.question]
        share[self.correct] = w * e[self.correct] / total
        value = float((w * (u[self.correct] - np.log(total))).sum())
        return value, w @ (self.x[self.correct] - mean), (self.x.T * share) @ self.x - (mean.T * w) @ mean

    def leads(self) -> Array:
        """How much higher each part is for right than for wrong responses, by question [Q', V]."""
        correct, wrong = (
            np.add.reduceat(kind[:, None] * self.x, self.starts) / np.bincount(self.question, kind)[:, None]
            for kind in (self.correct, ~self.correct)
        )
        lead: Array = correct - wrong
        return lead


def against(logit: WithinQuestionLogit) -> Bools:
    """Which parts, taken alone, are higher for wrong responses by more than two standard errors over questions [V]."""
    if not len(logit.starts):
        return np.zeros(logit.x.shape[1], bool)
    leads = logit.leads()
    lower: Bools = leads.sum(axis=0) < -2 * np.sqrt((leads**2).sum(axis=0))
    return lower


def fit_signed(logit: WithinQuestionLogit, penalty: float, free: Bools, start: Array | None = None) -> Array:
    """Return the coefficients of either sign [V]; 0 for those that are not free."""
    if not len(logit.starts):
        return np.zeros(len(free))
    objective = ridge(logit.likelihood, np.full(len(free), penalty))
    begin = np.zeros(len(free)) if start is None else np.where(free, start, 0.0)
    return maximise(objective, begin, free=free, tolerance=1e-12)


def fit_within_questions(logit: WithinQuestionLogit, penalty: float, free: Bools) -> Array:
    """Return the coefficients [V], none below 0; 0 for those that are not free.

    Where the best coefficient is negative it is fixed at 0, the most negative first, and the rest fitted again.
    """
    c = fit_signed(logit, penalty, free)
    while len(c) and c.min() < 0:
        free = free & (np.arange(len(c)) != c.argmin())
        c = fit_signed(logit, penalty, free, c)
    return c
