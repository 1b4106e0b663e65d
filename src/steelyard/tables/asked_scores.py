"""Which scores a verifier was asked for: a table that was scored on demand says so in a column `NAME:asked`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from steelyard.pools.arrays import Bools
from steelyard.pools.pool import Pool
from steelyard.runs.on_demand import asked_column
from steelyard.tables.score_parts import Scores

NAME = "asked"  # of the column a pool is made from


def asked_expressions(schema: pl.Schema, scores: Scores) -> list[pl.Expr]:
    """Whether all scores of a row were asked for, as `asked`; nothing where the table does not say."""
    told = [asked_column(part.column) for part in scores.parts]
    found = [pl.col(name).fill_null(True) for name in dict.fromkeys(told) if schema.get(name) == pl.Boolean]
    return [pl.all_horizontal(found).alias(NAME)] if found else []


def with_asked_scores(pool: Pool, frame: pl.DataFrame) -> Pool:
    """A pool that knows what was not asked."""
    return pool.only_asked(frame[NAME].to_numpy().astype(bool)) if NAME in frame.columns else pool


def joined_asked(pools: Sequence[Pool]) -> Bools | None:
    """What was asked for in several pools together; None: everything."""
    if all(pool.asked is None for pool in pools):
        return None
    return np.concatenate([np.ones(pool.n_responses, bool) if pool.asked is None else pool.asked for pool in pools])
