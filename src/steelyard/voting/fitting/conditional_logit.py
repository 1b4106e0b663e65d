"""Which answer is correct? A conditional logit over the answers of a question, with a prior.

    P(answer k) = softmax_k (theta . x_k)
    maximise  sum over questions of log P(correct)  -  sum over features v of penalty_v (theta_v - centre_v)^2 / 2

The features x of an answer:

    votes   log n_k           how many responses gave it, with falling returns: samples of one LLM repeat themselves
    mean    log mean p_i      the mean score of those
    best    max z_i           the highest logit of a score for it (z = logit of the score)
    sum     sum z_i / N       all logits for it
    share   n_k / N           its share of the votes

Majority vote reads the first, vanilla weighted voting the first two (log n + log mean p = log sum p), best-of-N the
third, and the paper's weighted votes the last two: a sum of weights a z_i - b is a straight line of them.

The prior is the majority vote: votes are centred on 1, everything read from scores on 0. With few labels the votes of a
dozen contested questions can look worthless by chance; without a prior on them the fit then hands the verdict to the
scores, whatever these are. The penalties on mean, best, sum and share are in units of their spread within questions;
those on the last two are the heaviest: sums are right where samples are independent, and those of a language model are
not. How heavy the last three are is cross-validated. Votes and scores may only count for an answer: where the likeliest
coefficient is negative the feature is left out, and with the sum the share that its offset multiplies.

In a pool with a similarity K (pools/similarity.py) a response counts K(k, i) times for answer k in every sum and mean,
and several answers of a question may be correct: P(correct) is the sum of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.solvers import Objective, maximise, ridge
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.similarity import ALIKE, Similarity
from steelyard.voting.tally import smoothed

VOTES_PENALTY = 5.0  # on votes, in their own units: a standard deviation of 0.45 around the majority vote
MEAN_PENALTY = 1.0  # on the mean score; both were chosen on the grid, where they cost nothing (docs/accuracy.md)
HEAVIEST = 1e6
PENALTIES = (1.0, 4.0, 16.0, 64.0, np.inf)
PENALTY_FACTOR = np.array([0.0, 0.0, 1.0, 16.0, 16.0])  # how much of the penalty each feature feels
FEATURES = ("votes", "mean", "best", "sum", "share")
ONLY_FOR = np.array([name != "share" for name in FEATURES])
VOTES, MEAN, SUM, SHARE = (FEATURES.index(name) for name in ("votes", "mean", "sum", "share"))
MAJORITY = np.array([float(name == "votes") for name in FEATURES])
Theta = NDArray[np.float64]


@dataclass(frozen=True)
class AnswerFeatures:
    """The answers of a pool that were given, question by question."""

    starts: Ints  # [Q'] where the answers of each question begin; questions without any are not here
    question: Ints  # [Q']
    x: NDArray[np.float64]  # [K, 5]
    correct: Bools  # [K] all False without labels
    similarity: Similarity | None = None  # of the answers that are here, question by question [Q']

    @cached_property
    def sizes(self) -> Ints:
        """Answers per question [Q']."""
        return np.diff(np.append(self.starts, len(self.x)))

    def take(self, keep: Bools) -> AnswerFeatures:
        """Keep some of the questions [Q']."""
        rows, sizes = np.repeat(keep, self.sizes), self.sizes[keep]
        alike = None if self.similarity is None else self.similarity.take(keep)
        return AnswerFeatures(np.cumsum(sizes) - sizes, self.question[keep], self.x[rows], self.correct[rows], alike)

    def of_like_answers(self, chance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chance that an answer or one like it is the choice [K]: sum_j K(k, j) chance_j."""
        if self.similarity is None:
            return chance
        from steelyard.voting import kernels

        total = np.zeros(len(chance))
        alike = self.similarity
        kernels.smooth(alike.begin, self.sizes, self.starts, alike.values, np.ascontiguousarray(chance), total)
        return np.minimum(total, 1.0)

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

    def differ(self, rows: Ints, others: Ints) -> Bools:
        """Which winners of questions [Q'] differ from others, as rows; similar answers do not."""
        different: Bools = rows != others
        if self.similarity is not None:
            for q in np.flatnonzero(different).tolist():
                block = self.similarity.block(q, int(self.sizes[q]))
                different[q] = block[rows[q] - self.starts[q], others[q] - self.starts[q]] < ALIKE
        return different


def answer_features(pool: Pool, z: NDArray[np.float64]) -> AnswerFeatures:
    """Gather the answers of a pool; z [R] is finite and multiples of the tally's quantum."""
    sums = answer_sums(pool, z)
    present = sums.votes > 0
    which = np.repeat(np.arange(pool.n_questions), pool.width)[present]
    question, starts = np.unique(which, return_index=True)
    size = pool.sizes[which]
    columns = (sums.n, sums.score_sum, sums.logit_sum, sums.logit_max)
    n, score_sum, logit_sum, logit_max = (column[present] for column in columns)
    x = np.stack((np.log(n), np.log(score_sum / n), logit_max, logit_sum / size, n / size), axis=1)
    correct = np.zeros(len(which), bool)
    if isinstance(pool, LabelledPool):
        correct = pool.answer_correct[pool.base[which] + np.flatnonzero(present) - sums.offsets[which]]
    alike = None if pool.similarity is None else _blocks_of(pool, present, question)
    return AnswerFeatures(starts, question, x, correct, alike)


def _blocks_of(pool: Pool, present: Bools, questions: Ints) -> Similarity:
    """The similarity of the answers that were given [K], in the questions that have any."""
    similarity = cast(Similarity, pool.similarity)
    ends = np.cumsum(pool.width)
    if present.all():
        return similarity.take(questions)
    blocks = []
    for q in questions.tolist():
        here = np.flatnonzero(present[ends[q] - pool.width[q] : ends[q]])
        blocks.append(similarity.block(q, int(pool.width[q]))[np.ix_(here, here)].ravel())
    sizes = np.array([len(block) for block in blocks], np.int64)
    return Similarity(np.concatenate([*blocks, np.empty(0, np.float32)]), np.cumsum(sizes) - sizes)


@dataclass(frozen=True)
class AnswerSums:
    """What the responses of each answer add up to; answers that were not given are included."""

    offsets: Ints  # [Q] where each question's answers begin
    votes: Ints  # [places] responses that gave it
    n: NDArray[Any]  # [places] its votes: those responses, and similar ones by their similarity
    score_sum: NDArray[np.float64]  # summed scores
    logit_sum: NDArray[np.float64]  # summed logits
    logit_max: NDArray[np.float64]  # highest logit


def answer_sums(pool: Pool, z: NDArray[np.float64]) -> AnswerSums:
    """Add up the logits z [R] of every answer."""
    from steelyard.voting import kernels

    places = int(pool.width.sum())
    offsets, n = np.cumsum(pool.width) - pool.width, np.zeros(places, np.int64)
    score_sum, logit_sum, logit_max = (np.zeros(places) for _ in range(3))
    kernels.add_up_answers(pool.starts, offsets, pool.answer, z, n, score_sum, logit_sum, logit_max)
    if pool.similarity is None:
        return AnswerSums(offsets, n, n, score_sum, logit_sum, logit_max)
    smooth = partial(smoothed, pool)
    return AnswerSums(offsets, n, smooth(n), smooth(score_sum), smooth(logit_sum), logit_max)


def fit_conditional_logit(features: AnswerFeatures, penalty: float) -> Theta:
    """Return theta [5] in the units of the features; the majority vote where nothing can be learned."""
    return _fits(features, (penalty,))[0]


def fit_votes(features: AnswerFeatures) -> Theta:
    """Return theta [5] of the majority vote: how much its votes say, and nothing of the scores."""
    return fit_conditional_logit(replace(features, x=features.x * MAJORITY), np.inf)


def _fits(features: AnswerFeatures, penalties: Sequence[float]) -> list[Theta]:
    """Return theta [5] for every penalty; each fit begins where the one before it ended."""
    contested = features.take(features.open)
    if not len(contested.starts):
        return [MAJORITY] * len(penalties)
    centred = contested.x - np.repeat(
        np.add.reduceat(contested.x, contested.starts) / contested.sizes[:, None], contested.sizes, axis=0
    )
    spread = np.sqrt((centred**2).mean(axis=0))
    varies = spread > 1e-9
    spread = np.where(varies, spread, 1.0)
    likelihood = partial(log_likelihood, contested.starts, centred / spread, contested.correct)
    thetas, start = [], MAJORITY * spread
    for penalty in penalties:
        start, free = _most_likely(likelihood, penalty, start, varies, spread)
        theta = np.where(free, start / spread, 0.0)
        if not varies[VOTES]:
            theta[VOTES] = MAJORITY[VOTES]
        thetas.append(theta if theta.any() else MAJORITY)
    return thetas


def _most_likely(
    likelihood: Objective, penalty: float, start: Theta, varies: Bools, spread: Theta
) -> tuple[Theta, Bools]:
    """Return the likeliest theta [5] without a feature that would count against an answer, and which are left."""
    penalties = PENALTY_FACTOR * min(penalty, HEAVIEST)
    penalties[VOTES], penalties[MEAN] = VOTES_PENALTY / spread[VOTES] ** 2, MEAN_PENALTY
    objective = ridge(likelihood, penalties, MAJORITY * spread)
    free = varies & ((PENALTY_FACTOR == 0) | (penalty < np.inf))
    while True:
        free[SHARE] &= free[SUM]
        theta = maximise(objective, np.where(free, start, 0.0), free=free)
        negative = np.where(ONLY_FOR & free, theta, 0.0)
        if negative.min() >= 0:
            return theta, free
        free = free & (np.arange(len(free)) != negative.argmin())


def choice_probabilities(features: AnswerFeatures, theta: Theta) -> NDArray[np.float64]:
    """Return P(answer) of every answer [K]; they add up to 1 over a question."""
    u = features.x @ theta
    u -= np.repeat(np.maximum.reduceat(u, features.starts), features.sizes)
    e = np.exp(u)
    share: NDArray[np.float64] = e / np.repeat(np.add.reduceat(e, features.starts), features.sizes)
    return share


def log_chances(open_questions: AnswerFeatures, theta: Theta) -> NDArray[np.float64]:
    """Return log P(correct) of questions that have a correct answer [Q']."""
    if not len(open_questions.starts):
        return np.empty(0)
    correct = np.where(open_questions.correct, choice_probabilities(open_questions, theta), 0.0)
    return np.log(np.maximum(np.add.reduceat(correct, open_questions.starts), 1e-12))


def cross_validate(features: AnswerFeatures, fold: Ints, se_tolerance: float) -> float:
    """Return the heaviest penalty whose held-out likelihood is within `se_tolerance` standard errors of the best.

    `fold` [Q'] says where each question is held out.
    """
    contested, fold = features.take(features.open), fold[features.open]
    if len(np.unique(fold)) < 2:
        return np.inf
    chances = np.empty((len(PENALTIES), len(fold)))
    for k in np.unique(fold):
        rest, held = contested.take(fold != k), contested.take(fold == k)
        for row, theta in enumerate(_fits(rest, PENALTIES)):
            chances[row, fold == k] = log_chances(held, theta)
    behind = chances[chances.mean(axis=1).argmax()] - chances
    error = behind.std(axis=1) / np.sqrt(len(fold))
    return max(p for p, b, e in zip(PENALTIES, behind.mean(axis=1), error, strict=True) if b <= se_tolerance * e)


def log_likelihood(
    starts: Ints, x: NDArray[np.float64], correct: Bools, theta: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return the log-likelihood, its gradient, and minus its Hessian (that of the normalising term)."""
    from steelyard.voting import kernels

    gradient, hessian = np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
    value: float = kernels.log_likelihood(starts, x, correct, theta, gradient, hessian)
    return value, gradient, hessian
