"""Prefix votes: what the vote says after every sample, k = 1 .. N, of every question. All that a rule may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Bools, Codes, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.verdicts import Verdicts


class Voter(Protocol):
    """A fitted method."""

    def predict(self, pool: Pool) -> Verdicts:
        """Decide every question of a pool."""


@dataclass(frozen=True, eq=False)
class PrefixVotes:
    """The vote on the first k samples of every question; a question with fewer stands still at its end."""

    k: Ints  # [K] rising: samples so far
    sizes: Ints  # [Q] samples there are
    code: Codes  # [Q, K] the verdict, -1 = nothing readable yet
    confidence: NDArray[np.float64]  # [Q, K] the probability that the verdict is correct; NaN: none was learned
    votes: Ints  # [Q, K] for the verdict
    rival: Ints  # [Q, K] for the answer with the most votes among the others
    learned: bool  # whether there is a confidence
    correct: Bools | None = None  # [Q, K] with labels


def prefix_votes(voter: Voter, pool: Pool, last: int | None = None) -> PrefixVotes:
    """Vote on all prefixes of every question, up to `last` samples; labels are out of the voter's sight."""
    bare = pool.unlabelled() if isinstance(pool, LabelledPool) else pool
    k = np.arange(1, (last or pool.n) + 1)
    shape = (pool.n_questions, len(k))
    code, confidence, votes = np.empty(shape, np.int32), np.empty(shape), np.empty(shape, np.int64)
    learned = True
    for i, n in enumerate(k.tolist()):
        verdicts = voter.predict(bare.first(n))
        code[:, i], confidence[:, i], votes[:, i] = verdicts.code, verdicts.confidence, verdicts.votes
        learned = learned and verdicts.p_correct is not None
    correct = None
    if isinstance(pool, LabelledPool):
        correct = pool.answer_correct[np.where(code < 0, 0, pool.base[:, None] + code)] & (code >= 0)
    return PrefixVotes(k, pool.sizes, code, confidence, votes, _rivals(pool, k, code), learned, correct)


def prefix_of(verdicts: Verdicts) -> PrefixVotes:
    """Return the last prefix alone, from a vote on all samples so far of one question."""
    pool = verdicts.pool
    k = pool.sizes
    rival = _rivals(pool, k, verdicts.code[:, None])
    return PrefixVotes(
        k,
        pool.sizes,
        verdicts.code[:, None],
        verdicts.confidence[:, None],
        verdicts.votes[:, None],
        rival,
        verdicts.p_correct is not None,
    )


def _rivals(pool: Pool, k: Ints, code: Codes) -> Ints:
    from steelyard.voting import kernels

    rival = np.zeros(code.shape, np.int64)
    kernels.rivals(pool.starts, pool.width, pool.answer, k, code, rival)
    return rival
