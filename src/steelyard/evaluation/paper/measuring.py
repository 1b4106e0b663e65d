"""Accuracy of voting rules on a pair, with its spread over calibration sets and over questions.

As in the paper, a fixed share of the questions is the test set and each run draws half of the others to calibrate
on: the sd over runs says what another calibration set would change, the standard error what other questions would.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.paper.pair_grid import DRAWN, RESERVE, Pair, Settings
from steelyard.evaluation.random_subsets import answers_correctly
from steelyard.foundation.errors import SteelyardWarning
from steelyard.voting.methods import configured, method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool

BASELINES = ("best-of-n", "majority", "vanilla")
CALIBRATED = ("kde-printed", "kde", "linear", "logit")
HONEST = (*BASELINES, *CALIBRATED)
SHUFFLED = "-shuffled"  # the same method on scores dealt out at random
ORACLES = ("pass-at-n", "optimal", "optimal-shuffled", "optimal-crossfit", "optimal-crossfit-shuffled")
ALL = (*ORACLES, *HONEST)
Split = tuple[LabelledPool, LabelledPool]


def voter(name: str) -> Method:
    """A method by the name it has in our tables; `kde-printed` and `kde-fitted` are forms of `kde`."""
    plain = name.removesuffix(SHUFFLED)
    if plain in ("kde-printed", "kde-fitted"):
        return configured("kde", {"reliability": plain.removeprefix("kde-")})
    return method_class(plain)()


def is_oracle(name: str) -> bool:
    """Whether a method of our tables reads the test labels."""
    return voter(name).oracle


@contextmanager
def quiet() -> Iterator[None]:
    """Small calibration sets and unequal sample counts are part of the experiments: no warning for each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteelyardWarning)
        yield


def splits(pool: LabelledPool, settings: Settings) -> list[Split]:
    """One calibration set a run, and the test set they share."""
    reserve, test = pool.split(RESERVE, seed=settings.seed)
    return [(reserve.split(DRAWN, seed=settings.seed + run)[0], test) for run in range(settings.runs)]


def rights(names: Sequence[str], sets: Sequence[Split], *, seed: int) -> NDArray[np.float64]:
    """Which test questions each method answers right, by run [K, runs, Q]."""
    with quiet():
        return np.array(
            [
                [
                    answers_correctly(
                        voter(name).fit(cal), test.with_shuffled_scores(seed) if name.endswith(SHUFFLED) else test
                    )
                    for cal, test in sets
                ]
                for name in names
            ],
            np.float64,
        )


def summary(names: Sequence[str], values: NDArray[np.float64]) -> list[dict[str, Any]]:
    """One row per method: accuracy, sd over runs, se over questions, and paired gains over two baselines."""
    runs, questions = values.shape[1:]
    mean = values.mean(axis=1)  # [K, Q]
    spread = values.mean(axis=2).std(axis=1, ddof=1) if runs > 1 else np.full(len(names), np.nan)
    rows = []
    for k, name in enumerate(names):
        row: dict[str, Any] = {"method": name, "accuracy": float(mean[k].mean()), "sd": float(spread[k])}
        row["se"] = float(mean[k].std(ddof=1) / np.sqrt(questions))
        for baseline in ("majority", "vanilla"):
            if baseline in names:
                gain = mean[k] - mean[list(names).index(baseline)]
                row[f"over_{baseline}"] = float(gain.mean())
                row[f"over_{baseline}_se"] = float(gain.std(ddof=1) / np.sqrt(questions))
        rows.append(row | {"questions": questions, "runs": runs})
    return rows


def accuracies(pair: Pair, names: Sequence[str], settings: Settings, n: int) -> list[dict[str, Any]]:
    """Accuracy of every method on the first n samples of a pair, calibrated on as many."""
    sets = splits(pair.pool.first(n), settings)
    values = rights(names, sets, seed=settings.seed)
    return [{"llm": pair.llm, "verifier": pair.verifier, "n": n, **row} for row in summary(names, values)]
