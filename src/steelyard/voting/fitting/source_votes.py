"""The votes of a pool as those of voters: every voter has one vote per question, which its samples share.

The N samples of a voter in a question are not N votes: they are drawn from one mind, and the variance of their share
falls with N no further than to that of the mind itself. So a response carries 1 / N of its voter's weight, whether N is
1 or 64.

A voter is a source, or several sources that repeat each other: copies must not outvote the others. Two sources have one
voter where they give the same answer in nearly all questions in which one of them is wrong: by the labels, or, without
labels, in which one of them is against the vote of all the others. Two that are merely good agree where they are
correct, and part where one is not. Without labels a pair that is always correct, against all others, looks like a pair
of copies: a warning says so, and it counts as one voter.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SteelyardWarning
from steelyard.voting.pools.arrays import Bools, Codes, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool

Vector = NDArray[np.float64]
CURVED = 600  # questions that the curvature is taken from
LOOKED_AT = 2000  # questions
WORK = 40_000_000  # comparisons
ALIKE = 0.9  # of the questions in trouble
CLOSE, CLOSER = 0.9, 0.98  # of all questions: with labels and without
FEWEST = 20  # of those
FEW = 5  # of those, if labels show them and they agree in all of them
SHOWN = 6  # names in a warning


@dataclass(frozen=True, eq=False)
class SourceVotes:
    """Who gave which answer, as the kernels read it."""

    pool: Pool
    voter: Codes  # [R] -1: does not vote
    voters: int
    unit: Vector  # [R] the part of its voter's vote
    evidence: Vector  # [R] standardised score times the unit; empty: there are no scores
    correct: Bools  # [R] all False without labels

    @classmethod
    def of(cls, pool: Pool, voter: Codes, voters: int, z: Vector | None = None) -> SourceVotes:
        """Gather the votes of a pool, the voter of every response given [R]; z [R]: standardised scores, 0 = none."""
        unit = vote_units(pool, voter, voters)
        correct = pool.correct if isinstance(pool, LabelledPool) else np.zeros(pool.n_responses, bool)
        return cls(pool, voter, voters, unit, np.empty(0) if z is None else z * unit, correct)

    @property
    def size(self) -> int:
        """How many coefficients there are: one per voter, two with scores."""
        return 2 * self.voters if len(self.evidence) else self.voters

    def take(self, questions: Ints) -> SourceVotes:
        """Keep some of the questions, by position."""
        rows = np.zeros(self.pool.n_questions, bool)
        rows[questions] = True
        keep = self.pool.spread(rows)
        evidence = self.evidence[keep] if len(self.evidence) else self.evidence
        pool, voter, unit = self.pool.take(np.flatnonzero(rows)), self.voter[keep], self.unit[keep]
        return replace(self, pool=pool, voter=voter, unit=unit, evidence=evidence, correct=self.correct[keep])

    @property
    def open(self) -> Ints:
        """The questions with a correct answer and a wrong one: the others teach nothing about weights."""
        pool, correct = self.pool, self.correct
        right = np.add.reduceat(correct.astype(np.int64), pool.starts[:-1]) > 0
        wrong = np.add.reduceat((pool.readable & ~correct).astype(np.int64), pool.starts[:-1]) > 0
        return np.flatnonzero(right & wrong)

    def hits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Which part of each voter's vote is correct [Q, V], and which voters were asked (0 or 1)."""
        pool = self.pool
        cell = np.repeat(np.arange(pool.n_questions), pool.sizes) * self.voters + self.voter
        among = self.voter >= 0
        size = pool.n_questions * self.voters
        hit = np.bincount(cell[among], (self.unit * self.correct)[among], size)
        voted = np.bincount(cell[among], self.unit[among], size)
        shape = (pool.n_questions, self.voters)
        return hit.astype(np.float64).reshape(shape), np.rint(voted).astype(np.float64).reshape(shape)

    def weights(self, theta: Vector) -> Vector:
        """What every response adds to its answer [R]."""
        voter = np.maximum(self.voter, 0)
        adds = theta[voter] * self.unit
        if len(self.evidence):
            adds = adds + theta[self.voters + voter] * self.evidence
        return np.where(self.voter >= 0, adds, 0.0)

    def same_error(self) -> float:
        """How often two voters that are both wrong give the same answer."""
        wrong = self.pool.readable & ~self.correct & (self.voter >= 0)
        question = np.repeat(np.arange(self.pool.n_questions), self.pool.sizes)[wrong]
        answer = (np.cumsum(self.pool.width) - self.pool.width)[question] + self.pool.answer[wrong]
        same, both = (self._pairs(at, wrong) for at in (answer, question))
        return (same + 1) / (both + 2)

    def _pairs(self, at: Ints, wrong: Bools) -> float:
        """The mass of pairs of different voters whose wrong votes meet at the same place."""
        unit, voter = self.unit[wrong], self.voter[wrong]
        own = np.bincount(np.unique(at * self.voters + voter, return_inverse=True)[1], unit)
        return float((np.bincount(at, unit) ** 2).sum() - (own**2).sum()) if len(at) else 0.0


def vote_units(pool: Pool, voter: Codes, voters: int) -> Vector:
    """Return the part of its voter's vote that every response carries [R]."""
    from steelyard.voting import kernels

    unit = np.empty(pool.n_responses)
    kernels.vote_units(pool.starts, voter, voters, unit)
    return unit


def modal_answers(pool: Pool, source: Codes, sources: int) -> NDArray[np.int32]:
    """Return the answer that each source gave most often [Q, S]; -1 for none."""
    from steelyard.voting import kernels

    modal = np.full((pool.n_questions, sources), -1, np.int32)
    kernels.modal_answers(pool.starts, pool.width, pool.answer, source, modal)
    return modal


def agreement(votes: SourceVotes, weights: Vector) -> tuple[NDArray[np.float64], float]:
    """Return each voter's agreement with the vote of the others [Q, V], -1 where it was not asked, and e."""
    from steelyard.voting import kernels

    pool = votes.pool
    agrees = np.full((pool.n_questions, votes.voters), -1.0)
    same, both = kernels.agreement(pool.starts, pool.width, pool.answer, votes.voter, votes.unit, weights, agrees)
    return agrees, (same + 1) / (both + 2)


def likelihood(votes: SourceVotes, theta: Vector) -> tuple[float, Vector, NDArray[np.float64]]:
    """Return how likely the correct answers are (its log), the gradient and about the curvature, turned positive."""
    from steelyard.voting import kernels

    pool = votes.pool
    stride = max(1, pool.n_questions // CURVED)
    gradient, hessian = np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
    value: float = kernels.committee_likelihood(
        pool.starts, pool.width, pool.answer, votes.voter, votes.unit, votes.evidence, votes.correct, theta,
        stride, gradient, hessian,
    )  # fmt: skip
    return value, gradient, hessian


def find_voters(pool: Pool, source: Codes, sources: int, names: tuple[str, ...], *, labels: bool) -> Codes:
    """Return the voter of every source [S], numbered 0, 1, ..; warn about sources that share one."""
    some = looked_at(pool, sources)
    rows = np.zeros(pool.n_questions, bool)
    rows[some] = True
    few, who = pool.take(np.flatnonzero(rows)), source[pool.spread(rows)]
    modal = modal_answers(few, who, sources)
    labelled = few if labels and isinstance(few, LabelledPool) else None
    close = _candidates(modal, CLOSER if labelled is None else CLOSE)
    if not close.any():
        return np.arange(sources, dtype=np.int32)
    voter = _numbered(_copies(few, who, modal, close, labelled))
    for shared in np.flatnonzero(np.bincount(voter) > 1).tolist():
        members = [names[s] for s in np.flatnonzero(voter == shared).tolist()]
        listed = ", ".join(members[:SHOWN]) + (f" and {len(members) - SHOWN} more" if len(members) > SHOWN else "")
        when = "wrong" if labelled is not None else "against all the others"
        doubt = "; without labels copies cannot be distinguished from two that are always correct"
        warnings.warn(
            f"{listed} give the same answer even where they are {when}, as copies do: they count as one source"
            + (doubt if labelled is None else ""),
            SteelyardWarning,
            stacklevel=6,
        )
    return voter


def looked_at(pool: Pool, sources: int) -> NDArray[np.int64]:
    """Some of the questions of a large pool, evenly spaced over the order of ids."""
    limit = max(40, min(LOOKED_AT, WORK // max(1, sources**2)))
    by_id = np.argsort(pool.rank)
    if pool.n_questions <= limit:
        return by_id
    return by_id[np.linspace(0, pool.n_questions - 1, limit).astype(np.int64)]


def _candidates(modal: NDArray[np.int32], share: float) -> Bools:
    """Which pairs agree nearly always [S, S]; only these can be copies."""
    sources = modal.shape[1]
    close = np.zeros((sources, sources), bool)
    for s in range(sources):
        both = (modal >= 0) & (modal[:, [s]] >= 0)
        same = ((modal == modal[:, [s]]) & both).sum(axis=0)
        close[s] = (both.sum(axis=0) >= FEWEST) & (same >= share * both.sum(axis=0))
    np.fill_diagonal(close, False)
    return close


def _copies(pool: Pool, source: Codes, modal: NDArray[np.int32], close: Bools, labelled: LabelledPool | None) -> Bools:
    """Which of the close pairs agree also where one of them is in trouble [S, S]."""
    if labelled is not None:
        correct = np.append(labelled.answer_correct, False)
        index = np.where(modal < 0, len(correct) - 1, labelled.base[:, None] + modal)
        fine = correct[index]
    else:
        voter = _numbered(close)
        votes = SourceVotes.of(pool, voter[source], int(voter.max()) + 1)
        fine = agreement(votes, np.ones(votes.voters))[0][:, voter] > 0.5
    linked = np.zeros_like(close)
    for s, t in np.argwhere(np.triu(close)).tolist():
        both = (modal[:, s] >= 0) & (modal[:, t] >= 0)
        trouble = both & ~(fine[:, s] & fine[:, t])
        same = trouble & (modal[:, s] == modal[:, t])
        mostly_same = trouble.sum() >= FEWEST and same.sum() >= ALIKE * trouble.sum()
        plain = labelled is not None and trouble.sum() >= FEW and same.sum() == trouble.sum()
        linked[s, t] = linked[t, s] = mostly_same or plain
    return linked


def _numbered(linked: Bools) -> Codes:
    """Number the groups of sources that are linked, directly or through others [S]."""
    voter = np.arange(len(linked))
    for _ in range(len(linked)):
        lowest = np.minimum(voter, np.where(linked, voter[None, :], len(linked)).min(axis=1, initial=len(linked)))
        if np.array_equal(lowest, voter):
            break
        voter = lowest
    return np.unique(voter, return_inverse=True)[1].astype(np.int32)
