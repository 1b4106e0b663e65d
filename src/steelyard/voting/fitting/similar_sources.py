"""What every voter is worth where answers are similar, not equal: by agreement alone, or with labels.

    U(k) = sum over voters v of  w_v x_kv,     x_kv: mean similarity of answer k to the responses of v

Without labels the agreement of a voter is the mean similarity of its responses to the answer that the others choose,

    a_v = mean over questions of x_v(argmax_k sum over u other than v of w_u x_ku),     w_v = max(0, a_v - middle of a)

until the weights settle. With twelve voters or more, those in the lower half of the range weigh nothing: where all
answers differ a little, many weak voters drown a few good ones.

With labels a_v becomes the accuracy, the agreement counting as some more questions, and the weights are fitted:

    P(answer k) = softmax_k U(k);   maximise  sum over questions of log P(correct) - penalty |w - c w0|^2 / 2

w0 are weights as above, and c is fitted alone. How much of the range weighs nothing is chosen by likelihood, from none
to three quarters; half unless another share is clearly better, as where weak voters err independently. A weight may
be negative: a voter that shares the errors of others, and seldom is correct where they are not, counts against what
it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.conditional_logit import log_likelihood
from steelyard.voting.fitting.solvers import Vector, maximise, ridge
from steelyard.voting.fitting.source_votes import SourceVotes, looked_at
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.tally import quantize

PENALTY = 3.0
AGREEMENT = 10.0  # labelled questions that the agreement counts as
ROUNDS = 30
SETTLED = 1e-6
SHOWN = 3.0  # log-likelihood that the weights must gain on chance
SCALE, FIRM = 5.0, 0.01  # what c is drawn to, and how firmly
FEW = 12  # voters; with fewer none is left out unless the labels say so
USUAL = 0.5  # of the range of accuracies, above which voters weigh anything;
KEPT = (-1.0, 0.0, 0.25, USUAL, 0.75)  # with labels one of these,
MORE = 4.0  # which must gain so much log-likelihood on the usual one


@dataclass(frozen=True, eq=False)
class SourceSimilarities:
    """The answers of a pool that were given, question by question, and how similar every voter is to each."""

    starts: Ints  # [Q'] where the answers of each question begin
    x: NDArray[np.float64]  # [K, V]
    correct: Bools  # [K] all False without labels
    own: Bools  # [K, V] no other voter gave this answer
    voted: Bools  # [Q', V]

    @classmethod
    def of(cls, votes: SourceVotes) -> SourceSimilarities:
        """Compare the answers of a pool, or of some of its questions if there are very many, with every voter."""
        from steelyard.voting import kernels

        votes = votes.take(looked_at(votes.pool, votes.voters))
        pool, alike = votes.pool, votes.pool.similarity
        if alike is None:
            raise TypeError("these answers have no similarity")
        offsets = np.cumsum(pool.width) - pool.width
        x = np.zeros((int(pool.width.sum()), votes.voters))
        read = (pool.starts, pool.width, offsets, pool.answer, votes.voter, votes.unit)
        kernels.source_similarities(*read, alike.begin, alike.values, x)
        among = pool.readable & (votes.voter >= 0)
        index = (pool.spread(offsets) + pool.answer)[among]
        gave = np.zeros(x.shape, bool)
        gave[index, votes.voter[among]] = True
        present = np.bincount((pool.spread(offsets) + pool.answer)[pool.readable], minlength=len(x)) > 0
        correct = np.zeros(len(x), bool)
        correct[index] = votes.correct[among]
        question = np.repeat(np.arange(pool.n_questions), pool.width)
        starts = np.unique(question[present], return_index=True)[1].astype(np.int64)
        voted = np.zeros((pool.n_questions, votes.voters), bool)
        voted[pool.spread(np.arange(pool.n_questions))[among], votes.voter[among]] = True
        own = gave & (gave.sum(axis=1, keepdims=True) == 1)
        return cls(starts, x[present], correct[present], own[present], voted[np.unique(question[present])])

    def agreement(self) -> Vector:
        """Return how similar every voter is to the choice of the others [V]; 0 for one that never voted."""
        w, agreement = np.ones(self.x.shape[1]), np.zeros(self.x.shape[1])
        others_voted = np.add.reduceat(~self.own, self.starts, axis=0) > 0 if len(self.x) else self.voted
        compared = self.voted & others_voted  # where the others are silent, nobody is agreed with
        for _ in range(ROUNDS):
            total = self.x @ w
            for v in range(len(w)):
                others = np.where(self.own[:, v], -np.inf, quantize(total - self.x[:, v] * w[v]))  # ties on any CPU
                agreement[v] = (self.x[self._largest(others), v] * compared[:, v]).sum() / max(1, compared[:, v].sum())
            settled, w = w, above(agreement)
            if np.abs(w - settled).max(initial=0.0) < SETTLED:
                break
        return agreement

    def _largest(self, total: Vector) -> Ints:
        """The row with the largest total of every question, the first of several [Q']."""
        sizes = np.diff(np.append(self.starts, len(total)))
        top = np.repeat(np.maximum.reduceat(total, self.starts), sizes)
        return np.minimum.reduceat(np.where(total == top, np.arange(len(total)), len(total)), self.starts)

    def accuracy(self, agreement: Vector, votes: SourceVotes) -> Vector:
        """Return how often every voter is correct [V], the agreement counting as some more questions."""
        hits, voted = (counts.sum(axis=0) for counts in votes.hits())
        accuracy: Vector = (hits + AGREEMENT * agreement) / (voted + AGREEMENT)
        return accuracy

    @property
    def contested(self) -> tuple[Ints, NDArray[np.float64], Bools]:
        """Where questions with correct and incorrect answers begin, with their rows."""
        sizes = np.diff(np.append(self.starts, len(self.x)))
        hits = np.add.reduceat(self.correct.astype(np.int64), self.starts) if len(self.x) else sizes
        keep = (hits > 0) & (hits < sizes)
        rows = np.repeat(keep, sizes)
        return np.cumsum(sizes[keep]) - sizes[keep], self.x[rows], self.correct[rows]


def usual(voters: int) -> float:
    """The share of the range that weighs nothing unless labels show another."""
    return USUAL if voters >= FEW else KEPT[0]


def above(values: Vector, share: float | None = None) -> Vector:
    """Return how far values lie above a share of their range, in parts of 1; equal parts if they are all the same.

    Two values are equal parts too: two voters agree with each other alike.

    >>> above(np.array([0.1, 0.5, 0.9]), 0.5).tolist(), above(np.array([0.1, 0.5])).tolist()
    ([0.0, 0.0, 1.0], [0.5, 0.5])
    """
    if share is None:
        share = usual(len(values))
        if len(values) < 3:
            return np.full(len(values), 1 / max(1, len(values)))
    low, high = values.min(initial=1.0), values.max(initial=0.0)
    over = np.maximum(values - (low + share * (high - low)), 0.0)
    return over / over.sum() if over.sum() > 0 else np.full(len(values), 1 / max(1, len(values)))


def fit_similar_sources(votes: SourceVotes, agreement: Vector, *, tolerance: float = 1e-7) -> Vector:
    """Return the weight of every voter [V] of labelled votes; 1 for all if the labels show nothing better."""
    equal, similarities = np.ones(votes.voters), SourceSimilarities.of(votes)
    starts, x, correct = similarities.contested
    if not len(starts):
        return equal
    accuracy = similarities.accuracy(agreement, votes)
    chance = log_likelihood(starts, np.zeros((len(x), 1)), correct, np.zeros(1))[0]
    priors = [_scaled(above(accuracy, share), starts, x, correct) for share in KEPT]
    gains = [
        gain - (MORE if share != usual(votes.voters) else 0.0) for share, (_, gain) in zip(KEPT, priors, strict=True)
    ]
    centre, gain = priors[int(np.argmax(gains))]
    if gain < chance + SHOWN:
        return equal
    objective = ridge(
        partial(log_likelihood, starts, np.ascontiguousarray(x), correct), np.full(votes.voters, PENALTY), centre
    )
    return maximise(objective, centre, tolerance=tolerance)


def _scaled(weights: Vector, starts: Ints, x: NDArray[np.float64], correct: Bools) -> tuple[Vector, float]:
    """Return weights times the factor that makes the correct answers likeliest, and that log-likelihood."""
    likelihood = partial(log_likelihood, starts, np.ascontiguousarray((x @ weights)[:, None]), correct)
    scale = maximise(ridge(likelihood, np.array([FIRM]), np.array([SCALE])), np.array([SCALE]))
    return max(float(scale[0]), 0.0) * weights, float(likelihood(np.maximum(scale, 0.0))[0])
