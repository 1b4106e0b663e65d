"""Columns about how a response ended and how its answer was read: `finish` and `rule`."""

from __future__ import annotations

import polars as pl

from steelyard.answers.reading_counts import LAST_NUMBER, cut_expression
from steelyard.tables.names import key

FINISH, RULE = "finish", "rule"
CUT, LAST = "was cut off", "is the last number"  # columns of a batch that is being read
FINISHES = ("finish_reason", "stop_reason", "finish_reasons", "stop_reasons")
TRUNCATED = "is_truncated"  # true or false, as verifiers writes it; `truncated` often means the prompt


def with_finish(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Call the reason why a response ended `finish`, where the table has it by another known name."""
    schema = frame.collect_schema()
    if FINISH in schema:
        return frame
    theirs = next((name for name in schema if key(name) in FINISHES and schema[name] == pl.String), None)
    flag = next((name for name in schema if key(name) == TRUNCATED and schema[name] == pl.Boolean), None)
    if theirs is not None:
        return frame.with_columns(pl.col(theirs).alias(FINISH))
    return frame if flag is None else frame.with_columns(pl.when(flag).then(pl.lit("length")).alias(FINISH))


def how_read_expressions(schema: pl.Schema) -> list[pl.Expr]:
    """Which responses were cut off, and which stored answers are only the last number of their text."""
    expressions = []
    if FINISH in schema and schema[FINISH] in (pl.String, pl.Categorical, pl.Enum):
        expressions.append(cut_expression(FINISH).alias(CUT))
    if "answer" in schema and RULE in schema and schema[RULE] == pl.String:
        expressions.append((pl.col(RULE) == LAST_NUMBER).fill_null(value=False).alias(LAST))
    return expressions
