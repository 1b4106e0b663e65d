"""Logistic regression within questions: what tells a correct response from the wrong ones beside it?

    l(c) = sum over questions of the mean over right i of log( e_i / (e_i + sum over wrong j of e_j) ),   e = exp(c . x)
    maximise  l(c) - penalty |c|^2 / 2,   c >= 0

a conditional logit: what is the same for all responses to a question cancels, so a score that only knows which
questions are hard earns nothing here. A question counts once; one without both kinds says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.newton import maximise, ridge
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
        w = self._per_right
        mine = self.question[self.correct]
        whole = e[self.correct] + np.add.reduceat(wrong, self.starts)[mine]
        around = np.add.reduceat(wrong[:, None] * self.x, self.starts)[mine]
        mean = (e[self.correct, None] * self.x[self.correct] + around) / whole[:, None]
        share = wrong * np.bincount(mine, w / whole)[self.question]
        share[self.correct] = w * e[self.correct] / whole
        value = float((w * (u[self.correct] - np.log(whole))).sum())
        return value, w @ (self.x[self.correct] - mean), (self.x.T * share) @ self.x - (mean.T * w) @ mean

    def leads(self) -> Array:
        """How much higher each part is for right than for wrong responses, by question [Q', V]."""
        correct, wrong = (
            np.add.reduceat(kind[:, None] * self.x, self.starts) / np.bincount(self.question, kind)[:, None]
            for kind in (self.correct, ~self.correct)
        )
        lead: Array = correct - wrong
        return lead

    @property
    def _per_right(self) -> Array:
        share: Array = 1.0 / np.bincount(self.question, self.correct)[self.question[self.correct]]
        return share


def fit_within_questions(logit: WithinQuestionLogit, penalty: float, free: Bools) -> Array:
    """Return the coefficients [V]; 0 for those that are not free.

    Where the best coefficient is negative it is fixed at 0, the most negative first, and the rest fitted again.
    """
    if not len(logit.starts):
        return np.zeros(len(free))
    while True:
        c = maximise(
            ridge(logit.likelihood, np.full(len(free), penalty)), np.zeros(len(free)), free=free, tolerance=1e-12
        )
        if not len(c) or c.min() >= 0:
            return c
        free = free & (np.arange(len(c)) != c.argmin())
