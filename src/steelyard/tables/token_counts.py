"""Tokens per response: a given column, the column `tokens`, or the characters of the response / 4."""

from __future__ import annotations

import polars as pl

from steelyard.foundation.errors import ColumnError, did_you_mean

TOKENS, RESPONSE = "tokens", "response"
CHARACTERS = 4  # per token, if tokens were not counted


def token_column(schema: pl.Schema, tokens: bool | str) -> str | None:
    """Return the column that the tokens are read from, as `tokens` of `sy.read` asks; None if there is none.

    >>> schema = pl.Schema({"response": pl.String(), "cost": pl.Float64()})
    >>> token_column(schema, "cost"), token_column(schema, True), token_column(schema, False)
    ('cost', 'response', None)
    """
    if isinstance(tokens, str) or not tokens:
        return tokens or None
    return next((name for name in (TOKENS, RESPONSE) if _has_values(schema, name)), None)


def token_expression(schema: pl.Schema, column: str | None) -> pl.Expr | None:
    """Return the tokens of each row, as `tokens`; None if they are unknown. `column`, if given, must exist."""
    if column is not None and column not in schema:
        raise ColumnError(f"there is no column {column!r} to read costs from: {did_you_mean(column, schema.names())}")
    name = column or TOKENS
    has_counts = _has_values(schema, name)
    if has_counts and not schema[name].is_numeric():
        raise ColumnError(f"the column {name!r} contains {schema[name]}, not one number per response")
    estimates = [pl.col(name).cast(pl.Float64).fill_nan(None)] if has_counts else []
    if column is None and schema.get(RESPONSE) == pl.String:
        estimates.append(pl.col(RESPONSE).str.len_chars().cast(pl.Float64) / CHARACTERS)
    return pl.coalesce(estimates).alias(TOKENS) if estimates else None


def _has_values(schema: pl.Schema, name: str) -> bool:
    return name in schema and schema[name] != pl.Null
