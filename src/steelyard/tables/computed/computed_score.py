"""What a computed score has: its name, the columns it can be computed from, and the formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class ComputedScore:
    """A score that is computed from one column; `length(tokens)` names it with its column, `length` without."""

    name: str
    columns: tuple[str, ...]  # used if no column is named: the first that the table has
    reads: str  # what such a column contains, in words
    accepts: Callable[[pl.DataType], bool]
    values: Callable[[pl.Series], pl.Series]  # one float per response, null if there is none
    missing: str  # what to do if the table has none of the columns
    relative: bool = False  # standardised within the question (voting/pools/relative_scores.py); else in [0, 1]
    undirected: bool = False  # whether more is better has to be learned (voting/fitting/direction.py)

    def column_in(self, schema: pl.Schema) -> str | None:
        """Return the column that the score is computed from if none is named."""
        return next((name for name in self.columns if name in schema and self.accepts(schema[name])), None)

    def expression(self, column: str, flipped: bool) -> pl.Expr:
        """Return one float per response as `score`; null if there is none."""
        value = pl.col(column).map_batches(self.values, return_dtype=pl.Float64)
        if not flipped:
            return value.alias("score")
        return (-value if self.relative else 1.0 - value).alias("score")
