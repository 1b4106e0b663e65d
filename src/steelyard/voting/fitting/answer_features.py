"""The answers of every question, and the five things a vote can know of each.

    votes   log n_k           how many responses gave it, with falling returns: samples of one LLM repeat themselves
    mean    log mean p_i      the mean score of those
    best    max z_i           the highest logit of a score for it (z = logit of the score)
    sum     sum z_i / N       all logits for it
    share   n_k / N           its share of the votes

Majority vote reads the first, vanilla weighted voting the first two (log n + log mean p = log sum p), best-of-N the
third, and the paper's weighted votes the last two: a sum of weights a z_i - b is a straight line of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool

FEATURES = ("votes", "mean", "best", "sum", "share")
VOTES, MEAN = FEATURES.index("votes"), FEATURES.index("mean")


@dataclass(frozen=True)
class AnswerFeatures:
    """The answers of a pool that were given, question by question."""

    starts: Ints  # [Q'] where the answers of each question begin; questions without any are not here
    question: Ints  # [Q']
    x: NDArray[np.float64]  # [K, 5]
    correct: Bools  # [K] all False without labels

    @cached_property
    def sizes(self) -> Ints:
        """Answers per question [Q']."""
        return np.diff(np.append(self.starts, len(self.x)))

    def take(self, keep: Bools) -> AnswerFeatures:
        """Keep some of the questions [Q']."""
        rows, sizes = np.repeat(keep, self.sizes), self.sizes[keep]
        return AnswerFeatures(np.cumsum(sizes) - sizes, self.question[keep], self.x[rows], self.correct[rows])

    @cached_property
    def open(self) -> Bools:
        """Which questions have a right and a wrong answer [Q']: the others teach nothing."""
        hits = np.add.reduceat(self.correct.astype(np.int64), self.starts) if len(self.x) else np.empty(0, np.int64)
        return (hits > 0) & (hits < self.sizes)

    def winners(self, total: NDArray[np.float64]) -> Ints:
        """Which row has the largest total [K] of its question [Q']; ties as the tally breaks them.

        They go to the higher total score, then to the answer that was seen first.
        """
        tied: Bools = np.ones(len(self.x), bool)
        for merit in (total, self.x[:, VOTES] + self.x[:, MEAN]):
            left = np.where(tied, merit, -np.inf)
            tied = tied & (left == np.repeat(np.maximum.reduceat(left, self.starts), self.sizes))
        return np.minimum.reduceat(np.where(tied, np.arange(len(tied)), len(tied)), self.starts)


def answer_features(pool: Pool, z: NDArray[np.float64]) -> AnswerFeatures:
    """Gather the answers of a pool; z [R] is finite and multiples of the tally's quantum."""
    sums = answer_sums(pool, z)
    given = sums.n > 0
    which = np.repeat(np.arange(pool.n_questions), pool.width)[given]
    question, starts = np.unique(which, return_index=True)
    size = pool.sizes[which]
    n, score_sum, logit_sum, logit_max = (
        sums.n[given],
        sums.score_sum[given],
        sums.logit_sum[given],
        sums.logit_max[given],
    )
    x = np.stack((np.log(n), np.log(score_sum / n), logit_max, logit_sum / size, n / size), axis=1)
    correct = np.zeros(len(which), bool)
    if isinstance(pool, LabelledPool):
        correct = pool.answer_correct[pool.base[which] + np.flatnonzero(given) - sums.offsets[which]]
    return AnswerFeatures(starts, question, x, correct)


@dataclass(frozen=True)
class AnswerSums:
    """What the responses of each answer add up to; an answer that nobody gave has its place too."""

    offsets: Ints  # [Q] where each question's answers begin
    n: Ints  # [places] votes
    score_sum: NDArray[np.float64]  # summed scores
    logit_sum: NDArray[np.float64]  # summed logits
    logit_max: NDArray[np.float64]  # highest logit


def answer_sums(pool: Pool, z: NDArray[np.float64]) -> AnswerSums:
    """Add up the logits z [R] of every answer."""
    from steelyard.voting import kernels

    places = int(pool.width.sum())
    sums = AnswerSums(
        np.cumsum(pool.width) - pool.width,
        np.zeros(places, np.int64),
        *(np.zeros(places) for _ in range(3)),
    )
    kernels.add_up_answers(
        pool.starts, sums.offsets, pool.answer, z, sums.n, sums.score_sum, sums.logit_sum, sums.logit_max
    )
    return sums
