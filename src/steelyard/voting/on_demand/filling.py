"""What a score that was not asked is taken for: learned on questions where all were asked.

    z_ki = level + by_share log(n_k / N) + r_k + e_ki,    r_k ~ N(0, between),  e_ki ~ N(0, within)

z: logits of the readings of answer k, which n_k of N responses gave. A reading that was not asked takes the mean that
those of its answer predict, shrunk to what its share of the votes predicts; several take the quantiles around that
mean, so that the best of them is as high as the best of so many would be. The filled pool is one in which all
scores might have turned out so: every method votes on it as on any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.counting.logit_weight import clipped_logit
from steelyard.voting.on_demand.readings import Readings, readings
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.logistic import expit
from steelyard.voting.pools.pool import Pool

P = TypeVar("P", bound=Pool)
LEAST = 1e-3  # a variance
STEPS = 20


@dataclass(frozen=True)
class Filling:
    """The four numbers of the model; those here are for plans that have learned none."""

    level: float = 0.0
    by_share: float = 0.5
    between: float = 1.0
    within: float = 0.5

    @classmethod
    def learn(cls, pool: Pool) -> Filling:
        """Estimate them by moments on a pool in which everything was asked."""
        found = readings(pool)
        z = clipped_logit(pool.known_scores)[found.first]
        known = ~np.isnan(z)
        a, mean = _means(found, z, known)
        here = a > 0
        if here.sum() < 2:
            return cls()
        spread = np.bincount(found.answer[known], (z - mean[found.answer])[known] ** 2, len(a))
        within = max(LEAST, float(spread.sum() / max(1, (a[here] - 1).sum())))
        x, m, size = _shares(found, pool)[here], mean[here], a[here]
        between = 1.0
        beta: NDArray[np.floating[Any]] = np.zeros(2)
        for _ in range(STEPS):
            w = 1 / (between + within / size)
            beta = np.linalg.solve(x.T @ (w[:, None] * x) + 1e-6 * np.eye(2), x.T @ (w * m))
            between = max(LEAST, float((w * ((m - x @ beta) ** 2 - within / size)).sum() / w.sum()))
        return cls(float(beta[0]), float(beta[1]), between, within)

    def apply(self, pool: P) -> P:
        """Return a pool with a score for every response, as if everything had been asked."""
        found = readings(pool)
        scores = np.array(pool.known_scores, np.float64)
        value = _of_readings(found, scores)
        z = clipped_logit(value)
        known = ~np.isnan(z)
        a, mean = _means(found, z, known)
        prior = _shares(found, pool) @ np.array([self.level, self.by_share])
        middle = prior + self.between * a / (self.between * a + self.within) * (mean - prior)
        unread = np.flatnonzero(~found.asked)
        answer = found.answer[unread]
        rest = np.bincount(answer, minlength=len(a))
        place = np.arange(len(unread)) - (np.cumsum(rest) - rest)[answer]
        guess = expit(middle[answer] + np.sqrt(self.within) * _quantile(rest[answer], place))
        value[unread] = guess
        if pool.asked is not None:
            not_asked = ~pool.asked[found.rows]
            scores[~pool.asked] = float(expit(self.level))
            scores[found.rows[not_asked]] = value[found.of_row[not_asked]]
        return replace(pool, scores=scores, parts=None, asked=None)


def _of_readings(found: Readings, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of every reading [U]: that of its first copy with one, NaN where there is none."""
    value = np.full(len(found.first), np.nan)
    there = np.flatnonzero(~np.isnan(scores[found.rows]))[::-1]
    value[found.of_row[there]] = scores[found.rows[there]]
    return value


def _means(found: Readings, z: NDArray[np.float64], known: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.float64]]:
    """How many readings of every answer have a score, and the mean of their logits; 0 where there is none [K]."""
    a = np.bincount(found.answer[known], minlength=len(found.begin))
    return a, np.bincount(found.answer[known], z[known], len(found.begin)) / np.maximum(a, 1)


def _shares(found: Readings, pool: Pool) -> NDArray[np.float64]:
    share = found.votes / pool.sizes[found.question]
    return np.stack((np.ones(len(share)), np.log(share)), axis=1)


def _quantile(rest: Ints, place: Ints) -> NDArray[np.float64]:
    """The quantile of the place-th of `rest` readings, the middle ones first."""
    sizes = np.unique(rest)
    values = np.array([q for size in sizes.tolist() for q in _quantiles(size)])
    begin = np.cumsum(sizes) - sizes
    chosen: NDArray[np.float64] = values[begin[np.searchsorted(sizes, rest)] + place]
    return chosen


@lru_cache(maxsize=1024)
def _quantiles(size: int) -> list[float]:
    normal = NormalDist()
    return sorted((normal.inv_cdf((i + 0.5) / size) for i in range(size)), key=lambda q: (abs(q), q))
