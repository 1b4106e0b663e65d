"""Scores written in percent: "87 %" is 0.87."""

from __future__ import annotations

import polars as pl

from steelyard.tables.columns import KNOWN
from steelyard.tables.names import SCORE_LIKE, key

INSPECTED_ROWS = 1_000
PERCENT = r"^\s*\d+(?:[.,]\d+)?\s*%\s*$"


def in_percent(frame: pl.LazyFrame) -> list[str]:
    """Return the columns with the name of a score whose first rows contain only percentages."""
    schema = frame.collect_schema()
    scores = (name for name, kind in schema.items() if kind == pl.String and SCORE_LIKE.search(key(name)))
    texts = [name for name in scores if name not in KNOWN]
    if not texts:
        return []
    first = frame.select(texts).head(INSPECTED_ROWS).collect()
    return [column.name for column in first if column.str.contains(PERCENT).all() and len(column.drop_nulls())]


def with_shares(frame: pl.LazyFrame, names: list[str]) -> pl.LazyFrame:
    """Convert percentages to numbers in [0, 1]; anything else in these columns is an error when the table is read."""
    numbers = (pl.col(name).str.strip_chars(" %\t").str.replace(",", ".", literal=True) for name in names)
    return frame.with_columns(number.cast(pl.Float64) / 100 for number in numbers)
