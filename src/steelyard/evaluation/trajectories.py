"""Many orders of the same samples: what stopping rules are chosen and measured on.

Samples of a question are exchangeable, so they may be drawn in several random orders; a question's figures are the
means over these, and questions stay the unit of every standard error. With `resamples` 0 they are taken as they stand.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import need_labels
from steelyard.foundation.errors import CalibrationError, SettingError, SteelyardWarning
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.stopping.stopping_rule import PrefixVotes, Rule, prefix_votes

FOLDS = 5
FEWEST = 20  # questions, so that every fold leaves enough to fit on
MOST_VOTED = 40_000_000  # responses voted on, unless `resamples` says otherwise


@dataclass(frozen=True, eq=False)
class Trajectories:
    """The votes along one or more random orders of every question, with labels."""

    prefix_votes: PrefixVotes  # [T, N]
    owner: Ints  # [T] the question of each trajectory
    questions: int

    def mean(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Average one value per trajectory [T] over the trajectories of each question [Q]."""
        return np.bincount(self.owner, values, self.questions) / np.bincount(self.owner, minlength=self.questions)

    def stopped(self, samples: Ints) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return samples used and share correct of every question [Q] stopped after so many samples [T]."""
        used = np.minimum(samples, self.prefix_votes.sizes)
        return self.mean(used), self.mean(self.prefix_votes.correct[np.arange(len(used)), used - 1])  # type: ignore[index]

    def under(self, rule: Rule) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return samples used and share correct of every question [Q] under a rule."""
        return self.stopped(rule.stops(self.prefix_votes))

    def fixed(self, mean_samples: float) -> NDArray[np.float64]:
        """Return the share correct [Q] of as many samples for each question as make this mean.

        Between two whole numbers some questions get one sample more, drawn by lot: a straight line.
        """
        n = self.prefix_votes.k
        mean_sizes = np.minimum(n[:, None], self.prefix_votes.sizes).mean(axis=1)
        at = float(np.interp(mean_samples, mean_sizes, n))
        low, part = int(at), at - int(at)
        most = int(n[-1])
        correct = [self.stopped(np.full(len(self.owner), min(k, most)))[1] for k in (low, low + 1)]
        return (1 - part) * correct[0] + part * correct[1]


def trajectories(method: Method, pool: LabelledPool, *, resamples: int | None = None, seed: int = 0) -> Trajectories:
    """Vote on the prefixes of a labelled pool by a fitted method that has not seen its labels."""
    return _joined([_shuffled_votes(method, need_labels(pool), pool.n, resamples, seed)], [np.arange(pool.n_questions)])


def crossfit_trajectories(
    method: Method, cal: LabelledPool, *, resamples: int | None = None, seed: int = 0
) -> Trajectories:
    """Vote on the prefixes of the calibration questions, each by a copy of the method fitted on the others."""
    if method.oracle:
        raise SettingError(f"{method.name} is an oracle: it reads labels when it votes, so nothing can stop by it")
    if not method.learns:
        return trajectories(deepcopy(method).fit(cal), cal, resamples=resamples, seed=seed)
    if cal.n_questions < FEWEST:
        raise CalibrationError(
            f"{cal.n_questions} calibration questions are too few to choose a stopping rule: label {FEWEST} or more"
        )
    fold = fold_of(cal, FOLDS, seed)
    votes, places = [], []
    for k in range(FOLDS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SteelyardWarning)  # the whole set was warned about
            fitted = deepcopy(method).fit(cal.take(fold != k))
        votes.append(_shuffled_votes(fitted, cal.take(fold == k), cal.n, resamples, seed + k))
        places.append(np.flatnonzero(fold == k))
    return _joined(votes, places)


def orders(pool: LabelledPool) -> int:
    """How many random orders of each question are worth the time: 10, fewer for a large pool."""
    return max(1, min(10, MOST_VOTED // max(1, pool.n_responses * pool.n // 2)))


def _shuffled_votes(method: Method, pool: LabelledPool, last: int, resamples: int | None, seed: int) -> PrefixVotes:
    copies = orders(pool) if resamples is None else resamples
    return prefix_votes(method, pool.shuffled(copies, np.random.default_rng(seed)) if copies else pool, last)


def _joined(votes: Sequence[PrefixVotes], places: Sequence[Ints]) -> Trajectories:
    """Put the votes on different questions one after the other; each part has all its questions once per copy."""
    owner = np.concatenate([np.tile(at, len(w.sizes) // len(at)) for w, at in zip(votes, places, strict=True)])
    first = votes[0]
    rows = {
        f.name: np.concatenate([getattr(w, f.name) for w in votes])
        for f in fields(PrefixVotes)
        if f.name not in ("k", "learned")
    }
    return Trajectories(
        PrefixVotes(first.k, learned=all(w.learned for w in votes), **rows), owner, sum(map(len, places))
    )
