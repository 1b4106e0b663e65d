"""What a leaderboard shows of the results of many sets: mean gains and their errors, ranks, and corrected p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BASELINE = "majority"
Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SetResult:
    """How often the methods are correct on one set, with some number of labels."""

    name: str
    labels: int
    default: str
    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    correct: Shares  # [Q, S, K] the mean over splits
    questions: NDArray[np.str_]  # [Q] ids, those that were tested

    def of(self, method: str, n: int) -> Shares:
        """How often each question is answered correctly by one method [Q]."""
        return self.correct[:, self.sizes.index(n), self.methods.index(method)]


def common_methods(sets: Sequence[SetResult]) -> list[str]:
    """The methods that all sets have, in order."""
    return [name for name in sets[0].methods if all(name in one.methods for one in sets)] if sets else []


def mean_accuracy(sets: Sequence[SetResult], method: str, n: int) -> float:
    """The accuracy of a method, the mean over sets."""
    return float(np.mean([one.of(method, n).mean() for one in sets]))


def summaries(sets: Sequence[SetResult], n: int) -> list[dict[str, object]]:
    """One row per method that all these sets have: accuracy, gain, rank, worst set, and a test against the default."""
    names = common_methods(sets)
    accuracy = np.array([[one.of(name, n).mean() for name in names] for one in sets])  # [sets, K]
    gains = accuracy - accuracy[:, [names.index(BASELINE)]]
    ranks = np.mean([average_ranks(-row) for row in accuracy.round(12)], axis=0)
    rows: list[dict[str, object]] = []
    p_values = []
    for k, name in enumerate(names):
        gain, se = mean_difference([(one, name, BASELINE) for one in sets], n)
        difference, error = mean_difference([(one, name, one.default) for one in sets], n)
        p_values.append(math.erfc(abs(difference) / error / math.sqrt(2)) if error > 0 else 1.0)
        worst = int(gains[:, k].argmin())
        rows.append(
            {"method": name, "sets": len(sets), "accuracy": float(accuracy[:, k].mean()), "gain": gain, "gain_se": se}
            | {"rank": float(ranks[k]), "worst": float(gains[worst, k]), "worst_set": sets[worst].name}
            | {"to_default": difference, "to_default_se": error, "default": name in {one.default for one in sets}}
        )
    corrected = iter(holm([p for row, p in zip(rows, p_values, strict=True) if not row["default"]]))
    for row in rows:
        row["p"] = 1.0 if row["default"] else next(corrected)
    return rows


def mean_difference(pairs: Sequence[tuple[SetResult, str, str]], n: int) -> tuple[float, float]:
    """Return the mean over sets of one method's accuracy minus another's, and its standard error.

    A question adds to all sets that have it; the variance is that of these sums within each group of sets that share
    questions.
    """
    mean = 0.0
    sums: list[dict[str, float]] = []
    for one, method, other in pairs:
        part = (one.of(method, n) - one.of(other, n)) / (len(one.questions) * len(pairs))
        mean += float(part.sum())
        by_question = dict(zip(one.questions.tolist(), part.tolist(), strict=True))
        shared = [group for group in sums if not group.keys().isdisjoint(by_question)]
        sums = [group for group in sums if group.keys().isdisjoint(by_question)]
        for group in shared:
            for question, value in group.items():
                by_question[question] = by_question.get(question, 0.0) + value
        sums.append(by_question)
    variance = 0.0
    for group in sums:
        values = np.array(list(group.values()))
        if len(values) > 1:
            variance += float(len(values) * values.var(ddof=1))
    return mean, math.sqrt(variance)


def average_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each value, the smallest first; equal values share the mean of their ranks.

    >>> average_ranks(np.array([0.3, 0.1, 0.3])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[group], np.float64)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's step-down procedure.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    scaled = np.array(p_values)[order] * np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(p) for p in corrected.round(12)]
