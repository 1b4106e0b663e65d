"""Tokens per response: a given column, the column `tokens`, or the characters of the response / 4."""

from __future__ import annotations

import polars as pl

from steelyard.foundation.errors import ColumnError, did_you_mean

CHARACTERS = 4  # per token, if tokens were not counted


def token_expression(schema: pl.Schema, column: str | None) -> pl.Expr | None:
    """Return the tokens of each row, as `tokens`; None if they are unknown. `column`, if given, must exist."""
    if column is not None and column not in schema:
        raise ColumnError(f"there is no column {column!r} to read costs from: {did_you_mean(column, schema.names())}")
    name = column or "tokens"
    has_counts = name in schema and schema[name] != pl.Null
    if has_counts and not schema[name].is_numeric():
        raise ColumnError(f"the column {name!r} contains {schema[name]}, not one number per response")
    estimates = [pl.col(name).cast(pl.Float64).fill_nan(None)] if has_counts else []
    if column is None and schema.get("response") == pl.String:
        estimates.append(pl.col("response").str.len_chars().cast(pl.Float64) / CHARACTERS)
    return pl.coalesce(estimates).alias("tokens") if estimates else None
