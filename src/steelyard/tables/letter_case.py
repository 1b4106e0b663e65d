"""Our names in other letters: `Question`, `ANSWER`, ` gold ` are question, answer and gold."""

from __future__ import annotations

import polars as pl

from steelyard.tables.columns import KNOWN
from steelyard.tables.names import key, named, only

CHOSEN = {"llm", "tokens"}  # options name these columns (--source LLM), so they stay


def in_our_case(schema: pl.Schema) -> dict[str, str]:
    """Which columns get which of our names, theirs: ours. A column with our name as it is goes before others.

    >>> in_our_case(pl.Schema({"Question": pl.String, "ANSWER ": pl.String, "Score": pl.Float64}))
    {'ANSWER ': 'answer', 'Question': 'question'}
    >>> in_our_case(pl.Schema({"Question": pl.String, "question": pl.String}))
    {}
    """
    missing = sorted(KNOWN - CHOSEN - set(schema))
    columns = [name for name in schema if key(name) != "sample" or schema[name].is_integer()]
    columns_of = {ours: only([name for name in columns if key(name) == ours], ours) for ours in missing}
    return {theirs: ours for ours, theirs in columns_of.items() if theirs is not None}


def chosen_in_our_case(schema: pl.Schema) -> dict[str, str]:
    """The same, ours: theirs, for columns that keep their name too."""
    columns_of = {ours: only(named(schema, {ours}), ours) for ours in sorted(CHOSEN - set(schema))}
    return {ours: theirs for ours, theirs in columns_of.items() if theirs is not None}
