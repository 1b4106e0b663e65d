"""What a plan has learned about asking: how to fill in missing scores, how far to go on, and what that is worth.

A score that was not requested is filled in by a model that is learned on questions where all were requested:

    z_ki = level + by_share log(n_k / N) + r_k + e_ki,    r_k ~ N(0, between),  e_ki ~ N(0, within)

z: logits of the readings of answer k, which n_k of N responses gave. A missing reading takes the mean that
those of its answer predict, shrunk to what its share of the votes predicts; several take the quantiles around that
mean, so that the best of them is as high as the best of so many would be. The filled pool is one in which all
scores might have turned out so: every method votes on it as on any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import PlanError
from steelyard.voting.on_demand.readings import Readings, readings
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.scores import expit
from steelyard.voting.pools.verdicts import Verdicts
from steelyard.voting.score_weights import clipped_logit

P = TypeVar("P", bound=Pool)
FAR = 1e6
LEARNED, PROVEN = "expected", "exact"
SURE = 1e-6
LEAST = 1e-3  # a variance
STEPS = 20


def log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log-odds of probabilities, finite ones."""
    inside = np.clip(p, SURE, 1 - SURE)
    odds: NDArray[np.float64] = np.log(inside) - np.log1p(-inside)
    return odds


def vote_odds(verdicts: Verdicts) -> NDArray[np.float64]:
    """The log-odds of the share of the votes that every verdict has, each side a vote richer [Q]."""
    return log_odds((verdicts.votes + 1) / (verdicts.cast + 2))


def verdict_was_read(verdicts: Verdicts, pool: Pool) -> Bools:
    """Of which verdicts the verifier was asked to read something [Q]."""
    if pool.scored is None:
        return np.ones(pool.n_questions, bool)
    mine = pool.scored & (pool.answer == pool.spread(verdicts.code)) & pool.readable
    return np.bincount(pool.spread(np.arange(pool.n_questions))[mine], minlength=pool.n_questions) > 0


@dataclass(frozen=True)
class Asking:
    """The numbers that `expected` goes by, learned by replaying it on the calibration questions."""

    level: float
    by_share: float
    between: float
    within: float
    sharpness: float  # log-odds per unit of an answer's total
    margin: float  # an answer is asked about while it may be this many log-odds short of the lead; 0: never
    read_intercept: float  # of the log-odds of the confidence in a verdict of which something was read,
    read_slope: float  # which some scores give otherwise than all,
    unread_intercept: float  # and of that in one of which nothing was,
    unread_slope: float  # by the log-odds of its share of the votes
    price: float  # of one score, in accuracy
    gain: float  # expected accuracy with all scores, less that with none
    loss: float  # expected accuracy lost against all scores
    scored: float  # share of the responses that are read
    rule: str = LEARNED  # the rule to ask by unless another is named; stored only where it is not the default

    @property
    def filling(self) -> Filling:
        """How a score that was not requested is filled in."""
        return Filling(self.level, self.by_share, self.between, self.within)

    def recalibrated(self, verdicts: Verdicts, pool: Pool, confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """The confidence in verdicts with some scores only [Q]; that of no answer stays 0."""
        read = verdict_was_read(verdicts, pool)
        odds = np.where(
            read,
            self.read_intercept + self.read_slope * log_odds(confidence),
            self.unread_intercept + self.unread_slope * vote_odds(verdicts),
        )
        return np.where(verdicts.code >= 0, expit(odds), 0.0)

    def explain(self) -> str:
        """Say in a sentence what is asked, and what that is worth."""
        gain = f"{100 * self.gain:.1f} points"
        price = f" at a price of {100 * self.price:g} points per score" if self.price else ""
        if not self.margin:
            return (
                f"Nothing is to be gained: on questions held out of the fit all scores together bring {gain} of "
                f"accuracy{price}, so the verifier is not used."
            )
        return (
            f"About {self.scored:.0%} of the responses are read; that loses {100 * self.loss:.1f} of the {gain} of "
            f"accuracy that all scores bring{',' if price else ''}{price}."
        )

    def plain(self) -> dict[str, Any]:
        """As a plan writes it."""
        numbers = asdict(self)
        rule = numbers.pop("rule")
        return numbers if rule == LEARNED else numbers | {"rule": rule}

    @classmethod
    def from_plain(cls, stored: Mapping[str, Any]) -> Asking:
        """Read what a plan keeps, and refuse what is damaged."""
        expected = [field.name for field in fields(cls) if field.name != "rule"]
        numbers = {name: value for name, value in stored.items() if name != "rule"}
        rule = stored.get("rule", LEARNED)
        complete = rule in (LEARNED, PROVEN) and sorted(numbers) == sorted(expected)
        if not complete or not all(type(value) in (int, float) for value in numbers.values()):
            raise PlanError("what it learned about asking is damaged: fit it again with --frugal expected")
        asking = cls(**{name: float(value) for name, value in numbers.items()}, rule=rule)
        variances = (asking.between, asking.within)
        positive = min(asking.sharpness, asking.margin, asking.price, asking.scored) >= 0
        near = all(abs(float(value)) <= FAR for value in numbers.values())
        if not positive or min(variances) < LEAST or not near:
            raise PlanError("what it learned about asking is damaged: fit it again with --frugal expected")
        return asking


def filled(pool: P, asking: Asking | None) -> P:
    """Return a pool with a score for every response, missing ones filled in as a plan has learned to."""
    return (asking.filling if asking else Filling()).apply(pool)


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
        groups = readings(pool)
        z = clipped_logit(pool.known_scores)[groups.first]
        is_scored = ~np.isnan(z)
        a, mean = _means(groups, z, is_scored)
        here = a > 0
        if here.sum() < 2:
            return cls()
        spread = np.bincount(groups.answer[is_scored], (z - mean[groups.answer])[is_scored] ** 2, len(a))
        within = max(LEAST, float(spread.sum() / max(1, (a[here] - 1).sum())))
        x, m, size = _shares(groups, pool)[here], mean[here], a[here]
        between = 1.0
        beta: NDArray[np.floating[Any]] = np.zeros(2)
        for _ in range(STEPS):
            w = 1 / (between + within / size)
            beta = np.linalg.solve(x.T @ (w[:, None] * x) + 1e-6 * np.eye(2), x.T @ (w * m))
            between = max(LEAST, float((w * ((m - x @ beta) ** 2 - within / size)).sum() / w.sum()))
        return cls(float(beta[0]), float(beta[1]), between, within)

    def apply(self, pool: P) -> P:
        """Return a pool with a score for every response, as if everything had been asked."""
        groups = readings(pool)
        scores = np.array(pool.known_scores, np.float64)
        value = _of_readings(groups, scores)
        z = clipped_logit(value)
        is_scored = ~np.isnan(z)
        a, mean = _means(groups, z, is_scored)
        prior = _shares(groups, pool) @ np.array([self.level, self.by_share])
        middle = prior + self.between * a / (self.between * a + self.within) * (mean - prior)
        unread = np.flatnonzero(~groups.scored)
        answer = groups.answer[unread]
        rest = np.bincount(answer, minlength=len(a))
        position = np.arange(len(unread)) - (np.cumsum(rest) - rest)[answer]
        guess = expit(middle[answer] + np.sqrt(self.within) * _quantile(rest[answer], position))
        value[unread] = guess
        if pool.scored is not None:
            not_scored = ~pool.scored[groups.rows]
            scores[~pool.scored] = float(expit(self.level))
            scores[groups.rows[not_scored]] = value[groups.of_row[not_scored]]
        return replace(pool, scores=scores, parts=None, scored=None)


def _of_readings(groups: Readings, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of every reading [U]: that of its first copy with one, NaN where there is none."""
    value = np.full(len(groups.first), np.nan)
    scored = np.flatnonzero(~np.isnan(scores[groups.rows]))[::-1]
    value[groups.of_row[scored]] = scores[groups.rows[scored]]
    return value


def _means(groups: Readings, z: NDArray[np.float64], is_scored: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.float64]]:
    """How many readings of every answer have a score, and the mean of their logits; 0 where there is none [K]."""
    a = np.bincount(groups.answer[is_scored], minlength=len(groups.begin))
    return a, np.bincount(groups.answer[is_scored], z[is_scored], len(groups.begin)) / np.maximum(a, 1)


def _shares(groups: Readings, pool: Pool) -> NDArray[np.float64]:
    share = groups.votes / pool.sizes[groups.question]
    return np.stack((np.ones(len(share)), np.log(share)), axis=1)


def _quantile(rest: Ints, position: Ints) -> NDArray[np.float64]:
    """The quantile of the place-th of `rest` readings, the middle ones first."""
    sizes = np.unique(rest)
    values = np.array([q for size in sizes.tolist() for q in _quantiles(size)])
    begin = np.cumsum(sizes) - sizes
    chosen: NDArray[np.float64] = values[begin[np.searchsorted(sizes, rest)] + position]
    return chosen


@lru_cache(maxsize=1024)
def _quantiles(size: int) -> list[float]:
    normal = NormalDist()
    return sorted((normal.inv_cdf((i + 0.5) / size) for i in range(size)), key=lambda q: (abs(q), q))
