"""How reliable voters are, by their agreement alone or with labels, and what they are worth together.

Without any label a voter is worth what its agreement with the others shows:

    a_v = how often voter v gives the answer that the weighted vote of all the others chooses
    p_v = a_v / sqrt(max a)          agreeing means, nearly always, that both are correct: a = p_v * p_consensus,
                                     and the best voter is about as good as the consensus
    w   = joint_weights(p, e, r)     e and r seen against the consensus; again, until nothing changes

The others' vote is without the voter itself: a voter always agrees with itself, and would become a dictator. It starts
from the chances that explain the agreement of pairs best, A_uv = p_u p_v, and keeps to them where voters are few: of
three, the best is the consensus of the two others.

With labels, hits_v of the asked_v votes of a voter are correct, and its chance is drawn to the one by agreement:

    logit prior_v = logit p_v + shift                   one shift for all, which makes the prior fit the labels
    chance_v = (hits_v + m prior_v) / (asked_v + m)     m: how many labels the prior is worth

m is what makes the hits of all voters most likely (a beta-binomial model), and at most the number of questions that the
prior has seen beyond the labelled ones. A voter with few labels keeps close to its prior, which is itself drawn to the
mean of all: that is partial pooling.

Together, p: the chance that a voter is correct; e: that two wrong ones give the same answer; r: the correlation of
their being correct:

    z_v = log( p_v / (1 - p_v) ) - log e       the paper's log-odds of reliability: e stands for 1 / (m - 1)
    w   = argmax over w >= 0 of  w . z / sqrt( w' C w ),   C = 1 on the diagonal, r beside it
        = z_v - t where that is positive,   t = r sum z / (1 + (n - 1) r)  over the n voters that are left

Alone (r = 0) every voter counts by its log-odds. The more they err together, the less a mediocre voter adds to the good
ones, until only those above t count.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.solvers import Vector, rank_one
from steelyard.voting.fitting.source_votes import SourceVotes, agreement
from steelyard.voting.pools.scores import expit

ROUNDS = 30
CORRELATED = 2000  # questions
TRUST = 10  # votes at which a voter's own agreement and that of all count the same
START_ERROR = 0.3
FEW = 50  # the square of the number of voters at which pairs and consensus count the same
GRAIN = 2.0**20  # weights are multiples of one over this
LEAST, MOST = 0.002, 0.998  # a chance is kept between these
CLOSEST = 0.95  # the highest correlation
WORTH = (10, 20, 40, 80, 160, 320, 640)  # labels
HALFWAY = 50  # questions at which labels and consensus say alike how voters err together
FARTHEST = 3.0  # of the shift


@dataclass(frozen=True, eq=False)
class Consensus:
    """What the agreement of the voters shows about each."""

    p: Vector  # [V] the chance that it is correct
    weights: Vector  # [V]
    same_error: float
    correlation: float


def find_consensus(votes: SourceVotes, start: Vector) -> Consensus:
    """Iterate from the chances `start` [V] until the weights stay as they are."""
    weights, correlation, same_error = coarse(joint_weights(start, START_ERROR, 0.0)), CLOSEST, START_ERROR
    p, seen = start, list[Vector]()
    for _ in range(ROUNDS):
        agrees, same_error = agreement(votes, weights)
        voted = (agrees >= 0).astype(np.float64)
        right = np.maximum(agrees, 0.0)
        count, total = voted.sum(axis=0), right.sum(axis=0)
        a = (total + TRUST * total.sum() / max(count.sum(), 1.0)) / (count + TRUST)
        p = _between(start, a / np.sqrt(max(a.max(), 1e-6)))
        every = max(1, len(right) // CORRELATED)
        correlation = mean_correlation(right[::every], voted[::every])
        seen.append(weights)
        weights = coarse(joint_weights(p, same_error, correlation))
        if any(np.array_equal(weights, before) for before in seen[-2:]):
            break
    return Consensus(p, weights, same_error, correlation)


def _between(pairs: Vector, p: Vector) -> Vector:
    """The chances by pairs and by consensus, averaged as log-odds: with few voters the consensus is unreliable."""
    part = len(p) ** 2 / (len(p) ** 2 + FEW)
    inside = [np.clip(chance, LEAST, MOST) for chance in (pairs, p)]
    z = [np.log(chance / (1 - chance)) for chance in inside]
    return expit((1 - part) * z[0] + part * z[1])


def pairwise_chances(answers: NDArray[np.int32]) -> Vector:
    """Return the p [V] for which p_u p_v is closest to how often u and v agree; answers [Q, V], -1 = none."""
    answered = (answers >= 0).astype(np.float64)
    both = answered.T @ answered
    voters = answers.shape[1]
    same = np.array([((answers == answers[:, [v]]) & (answers >= 0)).sum(axis=0) for v in range(voters)], np.float64)
    off_diagonal = ~np.eye(voters, dtype=bool)
    usual = same[off_diagonal].sum() / max(both[off_diagonal].sum(), 1.0)
    rate = (same + TRUST * usual) / (both + TRUST)
    np.fill_diagonal(rate, 0.0)
    return rank_one(rate, 1e-3, 0.999)


def coarse(weights: Vector) -> Vector:
    """Round to multiples of 2^-20: what is equal but for another machine's last bits is equal."""
    return np.asarray(np.rint(weights * GRAIN) / GRAIN)


def prior_weights(votes: SourceVotes, consensus: Consensus, unlabelled: int) -> Vector:
    """Return what the voters are worth [V], by the labels of these votes and the consensus of those and others."""
    hit, voted = votes.hits()
    chance = shrunk_chances(hit.sum(axis=0), voted.sum(axis=0), consensus.p, unlabelled)
    part = len(hit) / (len(hit) + HALFWAY)
    same_error = float(np.exp(part * np.log(votes.same_error()) + (1 - part) * np.log(consensus.same_error)))
    correlation = part * mean_correlation(hit, voted) + (1 - part) * consensus.correlation
    return joint_weights(chance, same_error, correlation)


def shrunk_chances(hits: Vector, trials: Vector, p: Vector, unlabelled: int) -> Vector:
    """Return the chance that each voter is correct [V].

    >>> shrunk_chances(np.array([8.0, 0.0]), np.array([10.0, 0.0]), np.array([0.8, 0.5]), 0).round(2)
    array([0.8, 0.5])
    """
    prior = _shifted(hits, trials, np.clip(p, LEAST, MOST))
    worth = [m for m in WORTH if m <= max(WORTH[0], unlabelled)]
    m = max(worth, key=lambda m: sum(map(_beta_binomial, hits, trials, prior, [m] * len(p))))
    return (hits + m * prior) / (trials + m)


def _shifted(hits: Vector, trials: Vector, p: Vector) -> Vector:
    """Move all log-odds alike until the expected hits are those seen."""
    z, shift = np.log(p / (1 - p)), 0.0
    for _ in range(50):
        now = expit(z + shift)
        slope = float((trials * now * (1 - now)).sum())
        step = float((hits - trials * now).sum()) / max(slope, 1e-9)
        shift = min(max(shift + min(max(step, -1.0), 1.0), -FARTHEST), FARTHEST)
    return np.clip(expit(z + shift), LEAST, MOST)


def _beta_binomial(hits: float, trials: float, p: float, m: float) -> float:
    """The log-likelihood of the hits where the chance is drawn from Beta(m p, m (1 - p))."""
    a, b = m * p, m * (1 - p)
    return lgamma(a + hits) + lgamma(b + trials - hits) - lgamma(m + trials) - lgamma(a) - lgamma(b) + lgamma(m)


def joint_weights(p: Vector, same_error: float, correlation: float) -> Vector:
    """Return the weights [V], none negative; all 1 where no voter is better than chance.

    >>> joint_weights(np.array([0.9, 0.6, 0.6]), 0.5, 0.0).round(2)
    array([2.89, 1.1 , 1.1 ])
    >>> joint_weights(np.array([0.9, 0.6, 0.6]), 0.5, 0.5).round(2)
    array([1.45, 0.  , 0.  ])
    """
    inside = np.clip(p, LEAST, MOST)
    z = np.log(inside / (1 - inside)) - np.log(same_error)
    falling = np.sort(z[z > 0])[::-1]
    if not len(falling):
        return np.ones(len(p))
    n = np.arange(1, len(falling) + 1)
    bar = correlation * np.cumsum(falling) / (1 + (n - 1) * correlation)
    weights = np.maximum(0.0, z - bar[np.flatnonzero(falling > bar)[-1]])
    return weights if weights.max() > 1e-6 else np.ones(len(p))


def mean_correlation(right: NDArray[np.floating], voted: NDArray[np.floating]) -> float:
    """Return the mean correlation of two voters' being correct over questions; from right and voted [Q, V].

    >>> round(mean_correlation(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.ones((4, 2))), 2)
    0.58
    """
    count = np.maximum(voted.sum(axis=0), 1)
    away = np.where(voted > 0, right - right.sum(axis=0) / count, 0.0)
    spread = np.sqrt((away**2).sum(axis=0) / count)
    varies = spread > 1e-9
    if varies.sum() < 2:
        return CLOSEST
    standard, present = away[:, varies] / spread[varies], voted[:, varies]
    total = (standard.sum(axis=1) ** 2).sum() - (standard**2).sum()
    pairs = (present.sum(axis=1) ** 2).sum() - (present**2).sum()
    return float(np.clip(total / max(pairs, 1.0), 0.0, CLOSEST))
