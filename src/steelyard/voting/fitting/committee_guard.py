"""Does the committee pay? Its verdicts on held-out questions beside those of its best source and of the majority vote.

The committee gives way to a rival where

    verdicts that only the rival has correct - those that only the committee has  >  2 sqrt(both together)

that is two standard errors of a paired comparison: the committee can learn to be either of them, and with shuffled
labels a source must not be chosen for its luck. The best source is chosen by the labels of the other folds: it is the
one that the labels could have chosen, not the best in hindsight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from steelyard.voting.counting.tally import tally
from steelyard.voting.fitting.newton import Vector
from steelyard.voting.fitting.source_votes import SourceVotes
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import LabelledPool

DOUBT = 2.0  # standard errors
OTHERS = 2.0**-10  # the weight of all other sources together, which decide where the best one gave no answer

Rival = Callable[[SourceVotes], Vector]


def single_source(votes: SourceVotes) -> Vector:
    """The coefficients of a vote by the source that the labels show to be the best."""
    hits, asked = (counts.sum(axis=0) for counts in votes.hits())
    best = int(np.argmax((hits + 1) / (asked + 2)))
    theta = np.zeros(votes.size)
    theta[: votes.voices] = OTHERS / votes.voices
    theta[best] = 1.0
    return theta


def one_vote_each(votes: SourceVotes) -> Vector:
    """The coefficients of the majority vote."""
    return np.concatenate((np.ones(votes.voices), np.zeros(votes.size - votes.voices)))


def better_rival(votes: SourceVotes, fold: Ints, thetas: Sequence[Vector]) -> Rival | None:
    """Return the rival that beats a committee with thetas[k] on fold [Q] k, and None where none does."""
    committee = held_out_correct(votes, fold, thetas)
    leads = {}
    for rival in (single_source, one_vote_each):
        correct = held_out_correct(votes, fold, by_fold(votes, fold, rival))
        difference: Vector = correct - committee.astype(np.float64)
        leads[rival] = float(difference.sum() - DOUBT * np.sqrt((difference**2).sum()))
    best = max(leads, key=lambda rival: leads[rival])
    return best if leads[best] > 0 else None


def by_fold(votes: SourceVotes, fold: Ints, fit: Rival) -> list[Vector]:
    """The coefficients learned without each fold."""
    return [fit(votes.take(np.flatnonzero(fold != k))) for k in range(int(fold.max()) + 1)]


def held_out_weights(votes: SourceVotes, fold: Ints, thetas: Sequence[Vector]) -> Vector:
    """What every response adds to its answer [R], by the coefficients that were learned without its fold."""
    weights = np.zeros(votes.pool.n_responses)
    for k, theta in enumerate(thetas):
        held = votes.pool.spread(fold == k)
        weights[held] = votes.weights(theta)[held]
    return weights


def held_out_correct(votes: SourceVotes, fold: Ints, thetas: Sequence[Vector]) -> Bools:
    """Which held-out verdicts are correct [Q]."""
    pool = votes.pool
    if not isinstance(pool, LabelledPool):
        raise TypeError("held-out verdicts are compared with labels")
    return tally(pool, held_out_weights(votes, fold, thetas)).correct(pool)
