"""What a response used: a column that says so, the column `tokens`, or the characters of the response / 4."""

from __future__ import annotations

import polars as pl

from steelyard.foundation.errors import ColumnError, did_you_mean

CHARACTERS = 4  # per token, where tokens were not counted


def token_expression(schema: pl.Schema, column: str | None) -> pl.Expr | None:
    """The tokens of each row, as `tokens`; None where nothing tells. `column`: one that must be there."""
    if column is not None and column not in schema:
        raise ColumnError(f"there is no column {column!r} to read costs from: {did_you_mean(column, schema.names())}")
    name = column or "tokens"
    counted = name in schema and schema[name] != pl.Null
    if counted and not schema[name].is_numeric():
        raise ColumnError(f"the column {name!r} holds {schema[name]}, not one number per response")
    known = [pl.col(name).cast(pl.Float64).fill_nan(None)] if counted else []
    if column is None and schema.get("response") == pl.String:
        known.append(pl.col("response").str.len_chars().cast(pl.Float64) / CHARACTERS)
    return pl.coalesce(known).alias("tokens") if known else None
