"""Which scores the verifier was asked for: a table that was scored on demand has a column `NAME:asked`.

Whether every score was asked for is a property of the whole table: a fully scored question means something else in a
table that was scored on demand. So it is never decided from one batch or one part of a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from steelyard.runs.on_demand_records import asked_column
from steelyard.tables.score_columns import Scores
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import Pool

NAME = "asked"  # column of the frame that a pool is made from


def asked_expressions(frame: pl.LazyFrame, scores: Scores, on_demand: bool = False) -> list[pl.Expr]:
    """Return whether all scores of a row were asked for, as `asked`; empty if all were, or if it is not recorded.

    With `on_demand`, the columns of this part of a table are used even if they are true in every row.
    """
    schema = frame.collect_schema()
    recorded = dict.fromkeys(asked_column(part.column) for part in scores.parts)
    names = [name for name in recorded if schema.get(name) == pl.Boolean]
    if not on_demand:
        names = not_all_asked(frame, names)
    return [pl.all_horizontal(pl.col(name).fill_null(True) for name in names).alias(NAME)] if names else []


def not_all_asked(frame: pl.LazyFrame, names: Sequence[str]) -> list[str]:
    """Return those of the `asked` columns that are false in some row."""
    if not names:
        return []
    any_skipped = frame.select((~pl.col(name).fill_null(True)).any() for name in names).collect(engine="streaming")
    return [name for name in names if any_skipped[name][0]]


def with_asked_scores(pool: Pool, frame: pl.DataFrame) -> Pool:
    """Return a pool with the scores that were not asked for marked as such."""
    if NAME not in frame.columns:
        return pool
    asked = frame[NAME].to_numpy().astype(bool)
    return replace(pool, asked=asked) if asked.all() else pool.only_asked(asked)


def joined_asked(pools: Sequence[Pool]) -> Bools | None:
    """Return which scores were asked for in several pools joined; None means all."""
    if all(pool.asked is None for pool in pools):
        return None
    return np.concatenate([np.ones(pool.n_responses, bool) if pool.asked is None else pool.asked for pool in pools])
