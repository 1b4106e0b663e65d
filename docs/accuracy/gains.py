"""What every method gains over majority, and over the better of majority and vanilla."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from docs.accuracy.cells import SEEDS, Source, split

METHODS = ("majority", "best-of-n", "vanilla", "linear", "logit", "kde", "platt", "calibrated")
BELOW = 1.96  # standard errors
FREE = ("majority", "best-of-n", "vanilla")


def gains(pools: Iterable[Source], methods: tuple[str, ...] = METHODS, seeds: tuple[int, ...] = SEEDS) -> pl.DataFrame:
    """One row a pool, seed, calibration size and method."""
    return pl.DataFrame([row for source in pools for seed in seeds for row in _rows(source, seed, methods)])


def _rows(source: Source, seed: int, methods: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    test, by_size = split(source.pool, seed)
    bare = test.unlabelled()
    free = {name: sy.method_class(name)().predict(bare) for name in FREE}
    correct = {name: verdicts.correct(test).astype(np.float64) for name, verdicts in free.items()}
    better = max(("majority", "vanilla"), key=lambda name: correct[name].mean())
    for size, cal in by_size.items():
        for name in methods:
            verdicts = free[name] if name in FREE else sy.method_class(name)().fit(cal).predict(bare)
            found = verdicts.correct(test).astype(np.float64)
            yield {
                "group": source.group,
                "pool": source.name,
                "seed": seed,
                "calibration": size,
                "method": name,
                "accuracy": found.mean(),
                "differences": found - correct["majority"],
                **_paired("majority", found - correct["majority"]),
                **_paired("better", found - correct[better]),
            }


def summed(table: pl.DataFrame) -> pl.DataFrame:
    """One row a pool, calibration size and method: means over the splits."""
    behind = pl.col("better") < -BELOW * pl.col("better_se")
    return table.group_by("group", "pool", "calibration", "method", maintain_order=True).agg(
        pl.col("majority").mean().alias("gain"),
        pl.col("majority_se").mean().alias("gain_se"),
        pl.col("accuracy", "better").mean(),
        behind.sum().alias("below"),
        pl.len().alias("cells"),
    )


def averaged(table: pl.DataFrame) -> pl.DataFrame:
    """One row a group, calibration size and method: the mean gain over its pools.

    The pairs of the grid have the same questions, so a question's gains are averaged first and the standard error is
    over questions (of simulated worlds: over the questions that stand at the same place, which are independent);
    splits overlap and do not make it smaller.
    """
    rows = []
    keys = ["group", "calibration", "method"]
    for key, part in table.group_by(keys, maintain_order=True):
        means, errors = [], []
        for _, split_ in part.group_by("seed", maintain_order=True):
            by_question = np.mean(np.stack(split_["differences"].to_list()), axis=0)
            means.append(by_question.mean())
            errors.append(by_question.std(ddof=1) / np.sqrt(len(by_question)))
        rows.append(dict(zip(keys, key, strict=True)) | {"gain": np.mean(means), "gain_se": np.mean(errors)})
    return pl.DataFrame(rows)


def _paired(name: str, difference: np.ndarray[Any, Any]) -> dict[str, float]:
    return {name: difference.mean(), f"{name}_se": difference.std(ddof=1) / np.sqrt(len(difference))}
