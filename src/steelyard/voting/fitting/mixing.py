"""Several scores made one: a ridge-logistic regression of being correct on their logits, or on the logits of ranks.

    P(correct) = sigma(a + sum_v c_v x_v),   x_v = (z_v - mean_v) / spread_v,   z_v from score_scales.py

The proportions of c are learned within questions, where votes are decided: over all responses a score that knows which
questions are hard looks better than it votes. Its scale and a are learned over all responses: so the mix is a
probability, and not so steep that clipping would flatten its top. Within questions,

    l(c) = sum over questions of the mean over right i of log( e_i / (e_i + sum over wrong j of e_j) ),   e = exp(c . x)
    maximise  l(c) - penalty |c|^2 / 2

is a conditional logit: what is the same for all responses to a question cancels. A question counts once; one without
both right and wrong responses says nothing.

There are two mixes. The *monotone* one has c >= 0: a part that would count against the answers it speaks for is left
out, since among verifiers that agree, one often gets a negative coefficient by chance, and a higher score never lowers
the mix. It reads logits if all scores are in [0, 1], else ranks. The *signed* mix reads ranks, and a coefficient may be
negative: verifiers may share preferences that have nothing to do with being correct, and a verifier that has little
else corrects the others for it. The signed mix is used where held-out questions show that it is better:
by more than EVIDENCE nats of l(c) in FOLDS-fold cross-validation. In both, a verifier that is upside down when it is
taken alone is left out and named: that is a mistake to fix, not to use.

A part that the verifier left out of a response adds nothing (x = 0); where all are missing the mix is missing too.
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
from steelyard.voting.fitting.score_scales import read_references, references, scaled
from steelyard.voting.fitting.within_question_logit import (
    WithinQuestionLogit,
    against,
    fit_signed,
    fit_within_questions,
)
from steelyard.voting.pools.arrays import Bools, Floats, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.scores import expit, in_unit_range

PENALTY = 1.0  # of the monotone mix: as much as one question says
SIGNED_PENALTY = 3.0  # 3 to 10 choose equally well with 20 to 100 labels (docs/mixing.md)
EVIDENCE = 2.0  # nats
FOLDS = 5
STEEPEST = 1e15  # no coefficient is larger
FLAT = 1e-9  # a smaller spread counts as constant
FLATTEST = 0.1  # slope in units of the spread: where questions contradict it, the order within them stays
KEYS = ("coefficient", "mean", "spread")
P = TypeVar("P", bound=Pool)
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mix:
    """How several scores are mixed, learned from a pool."""

    names: tuple[str, ...]
    coefficient: NDArray[np.float64]  # [V] in units of the spread; 0: left out; below 0 only in a signed mix
    mean: NDArray[np.float64]  # [V] of the logits
    spread: NDArray[np.float64]  # [V] of the logits; 0: the same for every response
    intercept: float
    ranks: tuple[Array, ...] | None = None  # [V] reference scores, among which a score is ranked; None: logits
    signed: bool = False  # whether it was fitted as a signed mix; a plan does not store it

    @classmethod
    def fit(cls, pool: LabelledPool, signed: bool | None = None) -> Mix:
        """Learn from the parts of a pool, in the order of its question ids: the order of a file says nothing.

        By default, held-out questions decide between a monotone and a signed mix.
        """
        pool = pool.take(np.argsort(pool.rank))
        parts = Parts.of(pool)
        if signed is None:
            signed = parts.signed_is_better(fold_of(pool, FOLDS, seed=0))
        columns = parts.columns(ranked=signed)
        c = parts.coefficients(columns.x, signed)
        for v in np.flatnonzero((c == 0) & against(parts.logit(columns.x))):
            warnings.warn(
                f"{pool.origin.parts[v]!r} is higher where responses are wrong: it is left out of the mix; "
                "check whether it is upside down",
                SteelyardWarning,
                stacklevel=5,
            )
        scale, intercept = _level(columns.x @ c, parts.correct)
        return cls(pool.origin.parts, scale * c, columns.mean, columns.spread, intercept, columns.ranks, signed)

    def apply(self, pool: P) -> P:
        """Return the pool with the mixed probability as its one score."""
        parts = several_scores(pool)
        is_scored: Bools = np.zeros(pool.n_responses, bool)
        total = np.full(pool.n_responses, self.intercept)
        for v, (c, mean, spread) in enumerate(zip(self.coefficient, self.mean, self.spread, strict=True)):
            # part by part: a row's sum does not depend on the rows beside it
            x = scaled(parts[:, v], self.ranks[v] if self.ranks else None)
            is_scored |= ~np.isnan(x)
            total += c * _standard(x, mean, spread)
        return replace(pool, scores=np.where(is_scored, expit(total), np.nan), parts=None)

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
                    mix = Mix.fit(pool.take(fold != k), signed=self.signed)
                except ScoreError:
                    mix = self
                scores[pool.spread(fold) == k] = mix.apply(pool.take(fold == k)).known_scores
        return replace(pool, scores=scores, parts=None)

    @property
    def corrects(self) -> bool:
        """Whether a higher score may lower the mix."""
        return bool((self.coefficient < 0).any())

    @property
    def shares(self) -> NDArray[np.float64]:
        """What each part contributes: its part of all coefficients, without their signs [V]; all 0 if none is used."""
        size = np.abs(self.coefficient)
        return size / size.sum() if size.any() else size

    def notes(self) -> list[str]:
        """Why a part contributes nothing, or the other way round, in words [V]; empty where it is as expected."""
        return [
            ""
            if c > 0
            else "corrects the others: a higher score counts against a response"
            if c < 0
            else "adds nothing to the others"
            if spread
            else "the same for every response"
            for c, spread in zip(self.coefficient, self.spread, strict=True)
        ]

    def described(self) -> str:
        """How the scores are made comparable, in one line."""
        scale = "logits" if self.ranks is None else "ranks among the calibration responses"
        signs = "; some count against a response, which held-out questions support" if self.corrects else ""
        return f"mixed from the {scale} of {len(self.names)} scores{signs}"

    def stored(self) -> dict[str, Any]:
        """The mix as a plan keeps it."""
        numbers = {key: getattr(self, key) for key in KEYS}
        ranks = {} if self.ranks is None else {"ranks": [reference.tolist() for reference in self.ranks]}
        return {"parts": list(self.names), "share": self.shares, **numbers, "intercept": self.intercept, **ranks}

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
            ranks = read_references(stored.get("ranks"), len(names))
            mix = cls(names, coefficient, mean, spread, float(stored["intercept"]), ranks)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise PlanError("its mix of scores is damaged") from None
        complete = isinstance(stored["parts"], list) and all(isinstance(name, str) for name in names)
        complete = complete and all(c.shape == (len(names),) for c in columns)
        finite = np.isfinite(np.concatenate([*map(np.ravel, columns), [mix.intercept]])).all()
        if not complete or not finite or len(names) < 2 or mix.spread.min() < 0:
            raise PlanError("its mix of scores is damaged")
        if ((mix.spread > 0) & (mix.spread < FLAT)).any() or max(map(np.max, map(np.abs, columns))) > STEEPEST:
            raise PlanError("its mix of scores is damaged: it has a spread or a coefficient that no fit finds")
        if mix.ranks is None and mix.corrects:
            raise PlanError("its mix of scores is damaged: only a mix of ranks has negative coefficients")
        return mix


@dataclass(frozen=True)
class Columns:
    """Several scores as a regression reads them."""

    x: Array  # [R', V] 0 where a score is missing
    mean: Array  # [V]
    spread: Array  # [V]
    ranks: tuple[Array, ...] | None  # [V]

    @classmethod
    def of(cls, values: Floats, *, ranked: bool) -> Columns:
        """Centre and scale the logits of scores, or of their ranks among each other."""
        ranks = tuple(references(column) for column in values.T) if ranked else None
        z = [scaled(column, ranks[v] if ranks else None) for v, column in enumerate(values.T)]
        mean, spread = (np.array([f(column) for column in z]) for f in (np.nanmean, np.nanstd))
        spread = np.where(spread > FLAT, spread, 0.0)
        x = np.column_stack([_standard(*column) for column in zip(z, mean, spread, strict=True)])
        return cls(x, mean, spread, ranks)


@dataclass(frozen=True)
class Parts:
    """The scores of the responses that have an answer, with their labels."""

    values: Floats  # [R', V]
    question: Ints  # [R']
    correct: Bools  # [R']
    unit: bool  # whether they may be probabilities

    @classmethod
    def of(cls, pool: LabelledPool) -> Parts:
        values, voting = known_everywhere(pool), pool.readable
        question = pool.spread(np.arange(pool.n_questions))
        return cls(values[voting], question[voting], pool.correct[voting], in_unit_range(values))

    def columns(self, *, ranked: bool) -> Columns:
        """The columns of a mix: ranks, or logits where the scores may be probabilities."""
        return Columns.of(self.values, ranked=ranked or not self.unit)

    def logit(self, x: Array, keep: Bools | slice = slice(None)) -> WithinQuestionLogit:
        """The regression on some of the responses."""
        return WithinQuestionLogit.of(self.question[keep], x[keep], self.correct[keep])

    def coefficients(self, x: Array, signed: bool, keep: Bools | slice = slice(None)) -> Array:
        """Fit a signed or a monotone mix to some of the responses [V]."""
        logit, varies = self.logit(x, keep), x.std(axis=0) > 0
        if signed:
            return fit_signed(logit, SIGNED_PENALTY, varies & ~against(logit))
        return fit_within_questions(logit, PENALTY, varies)

    def signed_is_better(self, fold: Ints) -> bool:
        """Whether held-out questions show that a signed mix is better than a monotone one; `fold` [Q].

        Where the monotone mix reads logits, the signed one also has to be better than a monotone mix of ranks: it is
        the signs that have to help.
        """
        fold = fold[self.question]
        signed = self._held_out(self.columns(ranked=True).x, True, fold)
        for ranked in (False, True)[: 1 + self.unit]:
            if signed - self._held_out(self.columns(ranked=ranked).x, False, fold) <= EVIDENCE:
                return False
        return True

    def _held_out(self, x: Array, signed: bool, fold: Ints) -> float:
        """The likelihood of held-out questions, in nats; `fold` [R'] says where each response is held out."""
        total = 0.0
        for k in np.unique(fold):
            held = self.logit(x, fold == k)
            if len(held.starts):
                total += held.likelihood(self.coefficients(x, signed, fold != k))[0]
        return total


def _level(u: NDArray[np.float64], correct: Bools) -> tuple[float, float]:
    """Return scale and intercept that make sigma(intercept + scale u) the share of correct responses at u."""
    spread = max(float(u.std()), FLAT)
    intercept, slope = platt(u / spread, correct)
    return max(slope, FLATTEST) / spread, intercept


def several_scores(pool: Pool) -> Floats:
    """The scores of a pool that has several [R, V]."""
    if pool.parts is None:
        several = argument("score", "ONE+OTHER")
        raise ScoreError(f"this pool has one score, not several to mix: read it with {several}")
    return pool.parts


def known_everywhere(pool: Pool) -> Floats:
    """The scores of a pool that has several [R, V]; refuse one that no response has."""
    values = several_scores(pool)
    for v, name in enumerate(pool.origin.parts):
        if np.isnan(values[pool.readable, v]).all():
            score = argument("score", pool.origin.score)
            raise ScoreError(f"every score of {name!r} is missing: leave it out of {score}")
    return values


def _standard(z: NDArray[np.float64], mean: float, spread: float) -> NDArray[np.float64]:
    """Centre and scale; what is missing or never varies is 0."""
    return np.where(np.isnan(z), 0.0, z - mean) / spread if spread else np.zeros(len(z))
