"""What is every voter worth, and does the committee pay? A conditional logit over the answers of a question.

    P(answer k) = softmax_k  sum over responses i of answer k of  (theta_v + beta_v z_i) / N_v
    maximise  sum over questions of log P(correct) - penalty |(theta, beta) - prior|^2 / 2

v: the voter of response i, N_v its samples in the question, z_i its score as the voter spreads its scores. It is
conditional on all votes: a voter that repeats what others say earns nothing for it, however often it is correct. The
prior is c w and b w: w the weights that chances and correlation suggest (source_reliability.py), c and b fitted alone.
With a heavy penalty these are all there is; how heavy it is, is cross-validated.

- A weight is negative only where that is beyond doubt, three standard errors below 0; else it is 0. A slope
  below 0 is 0.
- Where the labels do not show that any vote is better than chance, it is the majority vote: so it is with shuffled
  labels. Where one vote for each voter explains them better than w, w is 1 for all.

On held-out questions the committee gives way to a rival, its best source or the majority vote, where

    verdicts that only the rival has correct - those that only the committee has  >  2 sqrt(both together)

that is two standard errors of a paired comparison: the committee can learn to be either of them, and with shuffled
labels a source must not be chosen for its luck. The best source is chosen by the labels of the other folds: it is the
one that the labels could have chosen, not the best in hindsight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.conditional_logit import log_likelihood
from steelyard.voting.fitting.solvers import Vector, maximise, ridge
from steelyard.voting.fitting.source_reliability import Consensus, prior_weights
from steelyard.voting.fitting.source_votes import SourceVotes, likelihood
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.tally import tally

PENALTIES = (10.0, 30.0, 100.0, np.inf)
SCALE, FIRM = 0.5, 4.0  # what c and b are drawn to (b to 0), and how firmly
SHOWN = 3.0  # log-likelihood that the prior must gain on chance
DOUBT = 3.0  # standard errors
ENOUGH = 1000  # questions beyond which one fold held out says enough
STEPS, TOLERANCE, ROUGH = 30, 1e-7, 1e-4  # rough will do where only likelihoods are compared
RIVAL_DOUBT = 2.0  # standard errors
OTHERS = 2.0**-10  # the weight of all other sources together, which decide where the best one gave no answer
Rival = Callable[[SourceVotes], Vector]


@dataclass(frozen=True, eq=False)
class CommitteePrior:
    """Where the coefficients are drawn to [F]; `majority`: the labels show nothing better."""

    theta: Vector
    majority: bool


def committee_prior(votes: SourceVotes, consensus: Consensus, unlabelled: int) -> CommitteePrior:
    """Find w, c and b on the open questions of labelled votes."""
    w = prior_weights(votes, consensus, unlabelled)
    open_votes = votes.take(votes.open)
    equal = CommitteePrior(equal_votes(votes), majority=True)
    if not open_votes.pool.n_questions:
        return equal
    starts, totals, correct = _totals(open_votes, w)
    chance = log_likelihood(starts, totals, correct, np.zeros(totals.shape[1]))[0]
    scales, value = _scales(starts, totals[:, 1:], correct)
    equal_scales, equal_value = _scales(starts, totals[:, :1], correct)
    if max(value, equal_value) < chance + SHOWN or max(scales[0], equal_scales[0]) <= 0:
        return equal
    if value < equal_value - SHOWN:
        w, scales = np.ones(votes.voters), np.append(equal_scales, scales[1:])
    slopes = w * max(float(scales[1]), 0.0) if len(scales) > 1 else np.empty(0)
    return CommitteePrior(np.concatenate((w * float(scales[0]), slopes)), majority=False)


def fit_committee(
    votes: SourceVotes,
    prior: CommitteePrior,
    penalty: float,
    *,
    start: Vector | None = None,
    tolerance: float = TOLERANCE,
) -> Vector:
    """Return the coefficients [F] of labelled votes."""
    if prior.majority or not np.isfinite(penalty):
        return prior.theta
    open_votes = votes.take(votes.open)
    objective = ridge(partial(likelihood, open_votes), np.full(votes.size, penalty), prior.theta)
    free, held = np.ones(votes.size, bool), np.array(prior.theta if start is None else start)
    slope = np.arange(votes.size) >= votes.voters
    while True:
        theta = maximise(objective, np.where(free, held, 0.0), free=free, steps=STEPS, tolerance=tolerance)
        against = free & (theta < 0)
        if against.any():
            error = _errors(objective(theta)[2], free)
            against &= slope | (theta > -DOUBT * error)
        if not against.any():
            return theta
        free, held = free & ~against, theta


def cross_validate_committee(
    votes: SourceVotes, consensus: Consensus, unlabelled: int, fold: Ints, se_tolerance: float
) -> float:
    """Return the heaviest penalty whose held-out likelihood is within so many standard errors of the best."""
    chances: list[list[Vector]] = [[] for _ in PENALTIES]
    folds = np.unique(fold).tolist()
    for k in folds if len(fold) <= ENOUGH else folds[:1]:
        seen, held = votes.take(np.flatnonzero(fold != k)), votes.take(np.flatnonzero(fold == k))
        held = held.take(held.open)
        if not held.pool.n_questions:
            continue
        prior = committee_prior(seen, consensus, unlabelled)
        theta = prior.theta
        for row, penalty in reversed(list(zip(chances, PENALTIES, strict=True))):
            theta = fit_committee(seen, prior, penalty, start=theta, tolerance=ROUGH)
            row.append(log_chances(held, theta))
    if not chances[0]:
        return float(np.inf)
    values = np.array([np.concatenate(row) for row in chances])
    behind = values[values.mean(axis=1).argmax()] - values
    error = behind.std(axis=1) / np.sqrt(values.shape[1])
    close = zip(PENALTIES, behind.mean(axis=1), error, strict=True)
    return float(max(penalty for penalty, mean, se in close if mean <= se_tolerance * se + 1e-12))


def log_chances(votes: SourceVotes, theta: Vector) -> Vector:
    """Return log P(correct) of every open question [Q]."""
    starts, totals, correct = _totals(votes, theta[: votes.voters], theta[votes.voters :])
    u = totals[:, 1:].sum(axis=1)
    sizes = np.diff(np.append(starts, len(u)))
    e = np.exp(u - np.repeat(np.maximum.reduceat(u, starts), sizes))
    share = np.add.reduceat(np.where(correct, e, 0.0), starts) / np.add.reduceat(e, starts)
    return np.log(np.maximum(share, 1e-12))


def _totals(votes: SourceVotes, w: Vector, slopes: Vector | None = None) -> tuple[Ints, NDArray[np.float64], Bools]:
    """Return where each question's answers begin [Q]; votes, weight and evidence of each [K, 2 or 3]; if correct."""
    pool = votes.pool
    offsets = np.cumsum(pool.width) - pool.width
    among = pool.readable
    index = (pool.spread(offsets) + pool.answer)[among]
    size, voting = int(pool.width.sum()), (votes.voter >= 0)[among]
    voter = np.maximum(votes.voter, 0)[among]
    unit = np.where(voting, votes.unit[among], 0.0)
    columns = [np.bincount(index, unit, size), np.bincount(index, unit * w[voter], size)]
    if len(votes.evidence):
        beta = w if slopes is None else slopes
        columns.append(np.bincount(index, np.where(voting, votes.evidence[among], 0.0) * beta[voter], size))
    present = np.bincount(index, minlength=size) > 0
    correct = np.bincount(index, votes.correct[among], size) > 0
    question = np.repeat(np.arange(pool.n_questions), pool.width)[present]
    starts = np.unique(question, return_index=True)[1].astype(np.int64)
    return starts, np.column_stack(columns)[present].astype(np.float64), correct[present]


def _scales(starts: Ints, totals: NDArray[np.float64], correct: Bools) -> tuple[Vector, float]:
    """Return what the totals are to be multiplied by [1 or 2], and the log-likelihood there."""
    usual = np.array([SCALE, 0.0])[: totals.shape[1]]
    plain = partial(log_likelihood, starts, np.ascontiguousarray(totals), correct)
    scales = maximise(ridge(plain, np.full(len(usual), FIRM), usual), usual)
    return scales, plain(scales)[0]


def _errors(hessian: NDArray[np.float64], free: Bools) -> Vector:
    """The standard error of every free coefficient; 0 for the others."""
    errors = np.zeros(len(free))
    errors[free] = np.sqrt(np.maximum(np.diag(np.linalg.inv(hessian[np.ix_(free, free)])), 0.0))
    return errors


def single_source(votes: SourceVotes) -> Vector:
    """The coefficients of a vote by the source that the labels show to be the best."""
    hits, total = (counts.sum(axis=0) for counts in votes.hits())
    best = int(np.argmax((hits + 1) / (total + 2)))
    theta = np.zeros(votes.size)
    theta[: votes.voters] = OTHERS / votes.voters
    theta[best] = 1.0
    return theta


def equal_votes(votes: SourceVotes) -> Vector:
    """The coefficients of the majority vote."""
    return np.concatenate((np.ones(votes.voters), np.zeros(votes.size - votes.voters)))


def better_rival(votes: SourceVotes, fold: Ints, thetas: Sequence[Vector]) -> Rival | None:
    """Return the rival that beats a committee with thetas[k] on fold [Q] k, and None where none does."""
    committee = held_out_correct(votes, fold, thetas)
    leads = {}
    for rival in (single_source, equal_votes):
        correct = held_out_correct(votes, fold, by_fold(votes, fold, rival))
        difference: Vector = correct - committee.astype(np.float64)
        leads[rival] = float(difference.sum() - RIVAL_DOUBT * np.sqrt((difference**2).sum()))
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
