"""The votes of a pool as those of voices: every voice has one vote per question, which its samples share.

A voice is a source, or several sources that repeat each other (voices.py). The N samples of a voice in a question are
not N votes: they are drawn from one mind, and the variance of their share falls with N no further than to that of
the mind itself. So a response carries 1 / N of its voice's weight, whether N is 1 or 64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Bools, Codes, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool

Vector = NDArray[np.float64]
CURVED = 600  # questions that the curvature is taken from


@dataclass(frozen=True, eq=False)
class SourceVotes:
    """Who gave which answer, as the kernels read it."""

    pool: Pool
    voice: Codes  # [R] -1: does not vote
    voices: int
    unit: Vector  # [R] the part of its voice's vote
    evidence: Vector  # [R] standardised score times the unit; empty: there are no scores
    correct: Bools  # [R] all False without labels

    @classmethod
    def of(cls, pool: Pool, voice: Codes, voices: int, z: Vector | None = None) -> SourceVotes:
        """Gather the votes of a pool, the voice of every response given [R]; z [R]: standardised scores, 0 = none."""
        unit = vote_units(pool, voice, voices)
        correct = pool.correct if isinstance(pool, LabelledPool) else np.zeros(pool.n_responses, bool)
        return cls(pool, voice, voices, unit, np.empty(0) if z is None else z * unit, correct)

    @property
    def size(self) -> int:
        """How many coefficients there are: one per voice, two with scores."""
        return 2 * self.voices if len(self.evidence) else self.voices

    def take(self, questions: Ints) -> SourceVotes:
        """Keep some of the questions, by position."""
        rows = np.zeros(self.pool.n_questions, bool)
        rows[questions] = True
        kept = self.pool.spread(rows)
        evidence = self.evidence[kept] if len(self.evidence) else self.evidence
        pool, by_row = self.pool.take(np.flatnonzero(rows)), (self.voice[kept], self.unit[kept], self.correct[kept])
        voice, unit, correct = by_row
        return replace(self, pool=pool, voice=voice, unit=unit, evidence=evidence, correct=correct)

    @property
    def open(self) -> Ints:
        """The questions with a correct answer and a wrong one: the others teach nothing about weights."""
        pool, correct = self.pool, self.correct
        right = np.add.reduceat(correct.astype(np.int64), pool.starts[:-1]) > 0
        wrong = np.add.reduceat((pool.readable & ~correct).astype(np.int64), pool.starts[:-1]) > 0
        return np.flatnonzero(right & wrong)

    def hits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Which part of each voice's vote is correct [Q, V], and which voices were asked (0 or 1)."""
        pool = self.pool
        place = np.repeat(np.arange(pool.n_questions), pool.sizes) * self.voices + self.voice
        among = self.voice >= 0
        size = pool.n_questions * self.voices
        hit = np.bincount(place[among], (self.unit * self.correct)[among], size)
        asked = np.bincount(place[among], self.unit[among], size)
        shape = (pool.n_questions, self.voices)
        return hit.astype(np.float64).reshape(shape), np.rint(asked).astype(np.float64).reshape(shape)

    def weights(self, theta: Vector) -> Vector:
        """What every response adds to its answer [R]."""
        voice = np.maximum(self.voice, 0)
        adds = theta[voice] * self.unit
        if len(self.evidence):
            adds = adds + theta[self.voices + voice] * self.evidence
        return np.where(self.voice >= 0, adds, 0.0)

    def same_error(self) -> float:
        """How often two voices that are both wrong give the same answer."""
        wrong = self.pool.readable & ~self.correct & (self.voice >= 0)
        question = np.repeat(np.arange(self.pool.n_questions), self.pool.sizes)[wrong]
        place = (np.cumsum(self.pool.width) - self.pool.width)[question] + self.pool.answer[wrong]
        same, both = (self._pairs(at, wrong) for at in (place, question))
        return (same + 1) / (both + 2)

    def _pairs(self, at: Ints, wrong: Bools) -> float:
        """The mass of pairs of different voices whose wrong votes meet at the same place."""
        unit, voice = self.unit[wrong], self.voice[wrong]
        own = np.bincount(np.unique(at * self.voices + voice, return_inverse=True)[1], unit)
        return float((np.bincount(at, unit) ** 2).sum() - (own**2).sum()) if len(at) else 0.0


def vote_units(pool: Pool, voice: Codes, voices: int) -> Vector:
    """Return the part of its voice's vote that every response carries [R]."""
    from steelyard.voting import kernels

    unit = np.empty(pool.n_responses)
    kernels.vote_units(pool.starts, voice, voices, unit)
    return unit


def likelihood(votes: SourceVotes, theta: Vector) -> tuple[float, Vector, NDArray[np.float64]]:
    """Return how likely the correct answers are (its log), the gradient and about the curvature, turned positive."""
    from steelyard.voting import kernels

    pool = votes.pool
    stride = max(1, pool.n_questions // CURVED)
    gradient, hessian = np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
    value: float = kernels.committee_likelihood(
        pool.starts, pool.width, pool.answer, votes.voice, votes.unit, votes.evidence, votes.correct, theta,
        stride, gradient, hessian,
    )  # fmt: skip
    return value, gradient, hessian
