"""Which scores were requested from the verifier: a table that was scored on demand has a column `NAME:scored`.

Whether every score was requested is a property of the whole table: a fully scored question means something else in a
table that was scored on demand. So it is never decided from one batch or one part of a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from steelyard.runs.scored_columns import scored_column
from steelyard.tables.score_columns import Scores
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import Pool

NAME = "scored"  # column of the frame that a pool is made from


def scored_expressions(frame: pl.LazyFrame, scores: Scores, on_demand: bool = False) -> list[pl.Expr]:
    """Return whether all scores of a row were requested, as `scored`; empty if all were, or if it is not recorded.

    With `on_demand`, the columns of this part of a table are used even if they are true in every row.
    """
    schema = frame.collect_schema()
    recorded = dict.fromkeys(scored_column(part.column) for part in scores.parts)
    names = [name for name in recorded if schema.get(name) == pl.Boolean]
    if not on_demand:
        names = partly_scored(frame, names)
    return [pl.all_horizontal(pl.col(name).fill_null(True) for name in names).alias(NAME)] if names else []


def partly_scored(frame: pl.LazyFrame, names: Sequence[str]) -> list[str]:
    """Return those of the `scored` columns that are false in some row."""
    if not names:
        return []
    any_skipped = frame.select((~pl.col(name).fill_null(True)).any() for name in names).collect(engine="streaming")
    return [name for name in names if any_skipped[name][0]]


def with_on_demand_scores(pool: Pool, frame: pl.DataFrame) -> Pool:
    """Return a pool with the scores that were not requested marked as such."""
    if NAME not in frame.columns:
        return pool
    scored = frame[NAME].to_numpy().astype(bool)
    return replace(pool, scored=scored) if scored.all() else pool.only_scored(scored)


def joined_scored(pools: Sequence[Pool]) -> Bools | None:
    """Return which scores were requested in several pools joined; None means all."""
    if all(pool.scored is None for pool in pools):
        return None
    return np.concatenate([np.ones(pool.n_responses, bool) if pool.scored is None else pool.scored for pool in pools])
