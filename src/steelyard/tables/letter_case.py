"""Standard column names in another case: `Question`, `ANSWER`, ` gold ` are question, answer and gold."""

from __future__ import annotations

import polars as pl

from steelyard.tables.columns import KNOWN
from steelyard.tables.names import columns_named, key, only

KEPT_NAMES = {"llm", "tokens"}  # options refer to these columns by name (--source LLM)


def case_renames(schema: pl.Schema) -> dict[str, str]:
    """Return the columns to rename, {theirs: ours}. A standard name that is already there is not replaced.

    >>> case_renames(pl.Schema({"Question": pl.String, "ANSWER ": pl.String, "Score": pl.Float64}))
    {'ANSWER ': 'answer', 'Question': 'question'}
    >>> case_renames(pl.Schema({"Question": pl.String, "question": pl.String}))
    {}
    """
    missing = sorted(KNOWN - KEPT_NAMES - set(schema))
    columns = [name for name in schema if key(name) != "sample" or schema[name].is_integer()]
    columns_of = {ours: only([name for name in columns if key(name) == ours], ours) for ours in missing}
    return {theirs: ours for ours, theirs in columns_of.items() if theirs is not None}


def option_columns(schema: pl.Schema) -> dict[str, str]:
    """Return {ours: theirs} for columns that also keep their own name."""
    columns_of = {ours: only(columns_named(schema, {ours}), ours) for ours in sorted(KEPT_NAMES - set(schema))}
    return {ours: theirs for ours, theirs in columns_of.items() if theirs is not None}
