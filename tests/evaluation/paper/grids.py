"""Small simulated grids to reproduce the paper on, and the plain ways to its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from steelyard.evaluation.paper.pair_grid import Settings

SETTINGS = Settings(seed=3, runs=2, resamples=4, again=1)
QUESTIONS, N = 120, 8


def responses(seed: int) -> pl.DataFrame:
    """Responses of one model in three domains, with two verifiers and a self-assessment."""
    table = sy.simulate(QUESTIONS, N, seed=seed, world=sy.testing.World(gap=3.0)).rename({"score": "prm_a"})
    rng = np.random.default_rng(seed)
    noisy = {name: (0.6 * table["prm_a"] + 0.4 * rng.random(table.height)) for name in ("prm_b", "self_p")}
    kind = pl.col("question").str.slice(1).cast(pl.Int64) % 3
    return table.with_columns(**noisy, domain=pl.lit("d") + kind.cast(pl.String))


def wrote(folder: Path, **tables: pl.DataFrame) -> Path:
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        sy.write(table, folder / f"{name}.parquet")
    return folder


def one(rows: pl.DataFrame, **where: Any) -> dict[str, Any]:
    found = rows.filter(**where)
    assert found.height == 1, found
    return found.row(0, named=True)


def share_right(vote: sy.Method, cal: sy.LabelledPool, test: sy.LabelledPool) -> float:
    return float(sy.accuracy(vote.fit(cal).predict(test), test))


def plain_splits(pool: sy.LabelledPool) -> list[tuple[sy.LabelledPool, sy.LabelledPool]]:
    reserve, test = pool.split(0.4, seed=3)
    return [(reserve.split(0.5, seed=3)[0], test), (reserve.split(0.5, seed=4)[0], test)]
