"""Accuracy with its uncertainty over questions.

The unit of resampling is the question: the standard error is sd(correct) / sqrt(Q), the interval the
percentiles of a bootstrap that draws questions with replacement.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import LabelError, TableError
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.verdicts import Verdicts

BOOTSTRAPS = 2000
A_BATCH = 20_000_000  # draws held at once
CACHED = 2000  # questions; the draws of more are not cached
LEVEL = 0.95


class Estimate(float):
    """A mean over questions that knows its standard error and interval; otherwise a plain number.

    >>> Estimate(0.5, se=0.02, low=0.46, high=0.54, questions=600)
    50.0 % ± 2.0 (95% interval 46.0 to 54.0, 600 questions)
    >>> Estimate(0.5, se=0.02, low=0.46, high=0.54, questions=600) + 0.25
    0.75
    """

    se: float
    low: float
    high: float
    questions: int

    def __new__(cls, value: float, se: float, low: float, high: float, questions: int) -> Estimate:
        self = super().__new__(cls, value)
        self.se, self.low, self.high, self.questions = se, low, high, questions
        return self

    def __getnewargs__(self) -> tuple[float, float, float, float, int]:  # type: ignore[override]
        return float(self), self.se, self.low, self.high, self.questions

    def __str__(self) -> str:
        return (
            f"{100 * self:.1f} % ± {100 * self.se:.1f} "
            f"({LEVEL:.0%} interval {100 * self.low:.1f} to {100 * self.high:.1f}, {self.questions} questions)"
        )

    __repr__ = __str__


def as_columns(value: Estimate, name: str, prefix: str | None = None) -> dict[str, float]:
    """Return a mean and its uncertainty as cells of a table, named after it, or with another prefix.

    >>> as_columns(Estimate(0.5, se=0.02, low=0.46, high=0.54, questions=600), "gain")
    {'gain': 0.5, 'gain_se': 0.02, 'gain_low': 0.46, 'gain_high': 0.54}
    """
    start = f"{name}_" if prefix is None else prefix
    return {name: float(value), f"{start}se": value.se, f"{start}low": value.low, f"{start}high": value.high}


def accuracy(verdicts: Verdicts, labelled: LabelledPool, *, seed: int = 0) -> Estimate:
    """Return the share of correct verdicts, with standard error and bootstrap interval over questions.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(200, 8))
    >>> found = accuracy(sy.MajorityVote().predict(pool), pool)
    >>> found.low < found < found.high, found.questions
    (True, 200)
    """
    return estimates(verdicts.correct(need_labels(labelled))[:, None].astype(np.float64), seed=seed, shares=True)[0]


def paired_difference(a: Verdicts, b: Verdicts, labelled: LabelledPool, *, seed: int = 0) -> Estimate:
    """Return accuracy of a minus accuracy of b on the same questions, paired.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(200, 8))
    >>> ceiling, majority = sy.paper.PassAtN().predict(pool), sy.MajorityVote().predict(pool)
    >>> paired_difference(ceiling, majority, pool) > 0
    True
    """
    labels = need_labels(labelled)
    return estimate(a.correct(labels).astype(np.float64) - b.correct(labels), seed=seed)


def estimate(values: NDArray[np.bool_] | NDArray[np.float64], *, seed: int = 0) -> Estimate:
    """Return the mean of one value per question, with its uncertainty."""
    return estimates(np.asarray(values, np.float64)[:, None], seed=seed)[0]


def estimates(values: NDArray[np.float64], *, seed: int = 0, shares: bool = False) -> list[Estimate]:
    """Return the mean of every column of [Q, K], all on the same bootstrap draws of questions.

    `shares`: the values are right (1) or wrong (0). Where all are equal a bootstrap sees no
    spread; the interval is then the exact one of Clopper and Pearson, 0.025^(1/Q) from the end.
    """
    questions = len(values)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(bootstrapped(values, seed=seed), [tail, 1 - tail], axis=0)
    mean = values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(questions) if questions > 1 else np.full(len(mean), np.nan)
    if shares:
        reach = 1 - tail ** (1 / questions)
        low, high = np.where(mean == 1, 1 - reach, low), np.where(mean == 0, reach, high)
    columns = zip(mean.tolist(), error.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Estimate(*numbers, questions) for numbers in columns]


def bootstrapped(values: NDArray[np.float64], *, seed: int) -> NDArray[np.float64]:
    """Return the column means of [Q, K] over questions drawn with replacement, once a bootstrap [B, K]."""
    draws = _cached_draws if len(values) <= CACHED and isinstance(seed, int) else _drawn
    return np.concatenate([counts @ values / len(values) for counts in draws(len(values), seed)])


def _drawn(questions: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """How often each question is drawn, once a bootstrap, in batches of bounded size."""
    rng = np.random.default_rng(seed)
    even = np.full(questions, 1 / questions)
    batch = max(1, A_BATCH // questions)
    for done in range(0, BOOTSTRAPS, batch):
        yield rng.multinomial(questions, even, min(batch, BOOTSTRAPS - done))


@lru_cache(maxsize=2)
def _cached_draws(questions: int, seed: int) -> list[NDArray[np.int16]]:
    """Return the same as a list, cached for the next method: drawing takes longer than adding."""
    return [counts.astype(np.int16) for counts in _drawn(questions, seed)]


class Paired(NamedTuple):
    """A mean difference over questions and its standard error."""

    mean: float
    se: float

    @classmethod
    def of(cls, difference: NDArray[np.floating[Any]]) -> Paired:
        """Average one difference per question [Q]."""
        spread = difference.std(ddof=1) if len(difference) > 1 else 0.0
        return cls(float(difference.mean()), float(spread / np.sqrt(len(difference))))


def need_labels(pool: Pool) -> LabelledPool:
    """Return the pool if it is labelled, else say how to label it."""
    if pool.origin.single:
        raise TableError(pool.origin.single)
    if not isinstance(pool, LabelledPool):
        raise LabelError("accuracy needs labels: add a column 'correct' (true/false) or 'gold' (the correct answer)")
    return pool
