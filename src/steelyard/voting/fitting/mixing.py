"""Several scores made one: a ridge-logistic regression of being correct on their logits.

    P(correct) = sigma(a + sum_v c_v x_v),   x_v = (logit p_v - mean_v) / spread_v,   c >= 0

The proportions of c are learned within questions, where votes are decided: over all responses a score that knows which
questions are hard looks better than it votes. Its scale and a are learned over all responses: so the mix is a
probability, and not so steep that clipping would flatten its top. Within questions,

    l(c) = sum over questions of the mean over right i of log( e_i / (e_i + sum over wrong j of e_j) ),   e = exp(c . x)
    maximise  l(c) - penalty |c|^2 / 2,   c >= 0

is a conditional logit: what is the same for all responses to a question cancels. A question counts once; one without
both right and wrong responses says nothing.

A part that the verifier left out of a response adds nothing (x = 0); where all are missing the mix is missing too.
A part that would count against the answers it speaks for is left out (c = 0): among verifiers that agree, one
often gets a negative coefficient by chance, and one that is truly upside down is a mistake to fix, not to use.
A higher score never lowers the mix.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import PlanError, ScoreError, SteelyardWarning
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.fitting.probability_curves import platt
from steelyard.voting.fitting.solvers import maximise, ridge
from steelyard.voting.pools.arrays import Bools, Floats, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.scores import expit
from steelyard.voting.score_weights import clipped_logit

PENALTY = 1.0  # as much as one question says
FOLDS = 5
STEEPEST = 1e15  # no coefficient is larger
FLAT = 1e-9  # a smaller spread counts as constant
FLATTEST = 0.1  # slope in units of the spread: where questions contradict it, the order within them stays
KEYS = ("coefficient", "mean", "spread")
P = TypeVar("P", bound=Pool)
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mix:
    """How several scores are mixed, learned from a labelled pool."""

    names: tuple[str, ...]
    coefficient: NDArray[np.float64]  # [V] in units of the spread; 0: left out
    mean: NDArray[np.float64]  # [V] of the logits
    spread: NDArray[np.float64]  # [V] of the logits; 0: the same for every response
    intercept: float

    @classmethod
    def fit(cls, pool: LabelledPool) -> Mix:
        """Learn from the parts of a pool, in the order of its question ids: the order of a file says nothing."""
        pool = pool.take(np.argsort(pool.rank))
        parts = _parts(pool)
        voting = pool.readable
        z = [clipped_logit(parts[voting, v]) for v in range(parts.shape[1])]
        for name, column in zip(pool.origin.parts, z, strict=True):
            if np.isnan(column).all():
                score = argument("score", pool.origin.score)
                raise ScoreError(f"every score of {name!r} is missing: leave it out of {score}")
        mean = np.array([np.nanmean(column) for column in z])
        spread = np.array([np.nanstd(column) for column in z])
        spread = np.where(spread > FLAT, spread, 0.0)
        x = np.column_stack([_standard(*column_stats) for column_stats in zip(z, mean, spread, strict=True)])
        correct = pool.correct[voting]
        logit = WithinQuestionLogit.of(pool.spread(np.arange(pool.n_questions))[voting], x, correct)
        c = fit_within_questions(logit, PENALTY, spread > 0)
        for v in np.flatnonzero((c == 0) & _against(logit)):
            warnings.warn(
                f"{pool.origin.parts[v]!r} is higher where responses are wrong: it is left out of the mix; "
                "check whether it is upside down",
                SteelyardWarning,
                stacklevel=5,
            )
        scale, intercept = _level(x @ c, correct)
        return cls(pool.origin.parts, scale * c, mean, spread, intercept)

    def apply(self, pool: P) -> P:
        """Return the pool with the mixed probability as its one score."""
        parts = _parts(pool)
        known: Bools = np.zeros(pool.n_responses, bool)
        total = np.full(pool.n_responses, self.intercept)
        for v, (c, mean, spread) in enumerate(zip(self.coefficient, self.mean, self.spread, strict=True)):
            x = clipped_logit(parts[:, v])  # part by part: a row's sum does not depend on the rows beside it
            known |= ~np.isnan(x)
            total += c * _standard(x, mean, spread)
        return replace(pool, scores=np.where(known, expit(total), np.nan), parts=None)

    def crossfit_scores(self, pool: LabelledPool) -> LabelledPool:
        """Return the pool this was learned from, the scores of each fold mixed as the others say, to learn from.

        Mixed by what was learned from the same questions, many parts look better than they are. A fold without which
        a part would have no score at all is mixed as all say.
        """
        fold = fold_of(pool, FOLDS, seed=0)
        scores = np.empty(pool.n_responses)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SteelyardWarning)
            for k in np.unique(fold):
                try:
                    mix = Mix.fit(pool.take(fold != k))
                except ScoreError:
                    mix = self
                scores[pool.spread(fold) == k] = mix.apply(pool.take(fold == k)).known_scores
        return replace(pool, scores=scores, parts=None)

    @property
    def shares(self) -> NDArray[np.float64]:
        """What each part contributes: its part of all coefficients [V]; all 0 if none tells right from wrong."""
        total = float(self.coefficient.sum())
        return self.coefficient / total if total > 0 else self.coefficient

    def notes(self) -> list[str]:
        """Why a part contributes nothing, in words [V]; empty where it does."""
        return [
            "" if c > 0 else "adds nothing to the others" if spread else "the same for every response"
            for c, spread in zip(self.coefficient, self.spread, strict=True)
        ]

    def stored(self) -> dict[str, Any]:
        """The mix as a plan keeps it."""
        numbers = {key: getattr(self, key) for key in KEYS}
        return {"parts": list(self.names), "share": self.shares, **numbers, "intercept": self.intercept}

    def check(self, pool: Pool) -> None:
        """Refuse a pool with other scores than those that are mixed."""
        if pool.origin.parts != self.names:
            has = repr("+".join(pool.origin.parts)) if pool.origin.parts else "one score"
            raise PlanError(f"this plan mixes {'+'.join(self.names)!r}, the pool has {has}: give it the same scores")

    @classmethod
    def read(cls, stored: Any) -> Mix:
        """Make a mix from what a plan keeps; refuse what is damaged."""
        try:
            names = tuple(stored["parts"])
            columns = [np.array(stored[key], np.float64) for key in KEYS]
            coefficient, mean, spread = columns
            mix = cls(names, coefficient, mean, spread, float(stored["intercept"]))
        except (KeyError, TypeError, ValueError):
            raise PlanError("its mix of scores is damaged") from None
        complete = isinstance(stored["parts"], list) and all(isinstance(name, str) for name in names)
        complete = complete and all(c.shape == (len(names),) for c in columns)
        finite = np.isfinite(np.concatenate([*map(np.ravel, columns), [mix.intercept]])).all()
        if not complete or not finite or len(names) < 2 or min(mix.spread.min(), mix.coefficient.min()) < 0:
            raise PlanError("its mix of scores is damaged")
        if ((mix.spread > 0) & (mix.spread < FLAT)).any() or max(map(np.max, map(np.abs, columns))) > STEEPEST:
            raise PlanError("its mix of scores is damaged: it has a spread or a coefficient that no fit finds")
        return mix


def _against(logit: WithinQuestionLogit) -> Bools:
    """Which parts, taken alone, are higher for wrong responses by more than two standard errors over questions [V]."""
    if not len(logit.starts):
        return np.zeros(logit.x.shape[1], bool)
    leads = logit.leads()
    against: Bools = leads.sum(axis=0) < -2 * np.sqrt((leads**2).sum(axis=0))
    return against


def _level(u: NDArray[np.float64], correct: Bools) -> tuple[float, float]:
    """Return scale and intercept that make sigma(intercept + scale u) the share of correct responses at u."""
    spread = max(float(u.std()), FLAT)
    intercept, slope = platt(u / spread, correct)
    return max(slope, FLATTEST) / spread, intercept


def _parts(pool: Pool) -> Floats:
    if pool.parts is None:
        several = argument("score", "ONE+OTHER")
        raise ScoreError(f"this pool has one score, not several to mix: read it with {several}")
    return pool.parts


def _standard(z: NDArray[np.float64], mean: float, spread: float) -> NDArray[np.float64]:
    """Centre and scale; what is missing or never varies is 0."""
    return np.where(np.isnan(z), 0.0, z - mean) / spread if spread else np.zeros(len(z))


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
