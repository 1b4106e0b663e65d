"""Which scores a verifier was asked for: a table that was scored on demand says so in a column `NAME:asked`.

Whether everything was asked is a question about the whole table: a question of which all is read is another one where
the verifier was asked for nothing but what it needed. So no batch, and no part of a table, decides that for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from steelyard.runs.on_demand import asked_column
from steelyard.tables.score_parts import Scores
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import Pool

NAME = "asked"  # of the column a pool is made from


def asked_expressions(frame: pl.LazyFrame, scores: Scores, on_demand: bool = False) -> list[pl.Expr]:
    """Whether all scores of a row were asked for, as `asked`; nothing where the table does not say, or all were.

    With `on_demand` the columns of this part of a table count even where they are true in every row.
    """
    schema = frame.collect_schema()
    told = dict.fromkeys(asked_column(part.column) for part in scores.parts)
    names = [name for name in told if schema.get(name) == pl.Boolean]
    if not on_demand:
        names = not_all_asked(frame, names)
    return [pl.all_horizontal(pl.col(name).fill_null(True) for name in names).alias(NAME)] if names else []


def not_all_asked(frame: pl.LazyFrame, names: Sequence[str]) -> list[str]:
    """Of columns that say what was asked, those that say of some row that it was not."""
    if not names:
        return []
    found = frame.select((~pl.col(name).fill_null(True)).any() for name in names).collect(engine="streaming")
    return [name for name in names if found[name][0]]


def with_asked_scores(pool: Pool, frame: pl.DataFrame) -> Pool:
    """A pool that knows what was not asked."""
    if NAME not in frame.columns:
        return pool
    asked = frame[NAME].to_numpy().astype(bool)
    return replace(pool, asked=asked) if asked.all() else pool.only_asked(asked)


def joined_asked(pools: Sequence[Pool]) -> Bools | None:
    """What was asked for in several pools together; None: everything."""
    if all(pool.asked is None for pool in pools):
        return None
    return np.concatenate([np.ones(pool.n_responses, bool) if pool.asked is None else pool.asked for pool in pools])
