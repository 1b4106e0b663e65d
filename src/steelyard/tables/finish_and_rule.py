"""The columns `finish` (why a response ended) and `rule` (how its answer was read)."""

from __future__ import annotations

import polars as pl

from steelyard.answers.reading_counts import LAST_NUMBER, cut_expression
from steelyard.tables.names import key

FINISH, RULE = "finish", "rule"
CUT, LAST = "was cut off", "is the last number"  # columns of a batch while it is read
FINISHES = ("finish_reason", "stop_reason", "finish_reasons", "stop_reasons")
TRUNCATED = "is_truncated"  # boolean, written by verifiers; `truncated` often refers to the prompt


def with_finish(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add the column `finish` from a known alias, if the table has one."""
    schema = frame.collect_schema()
    if FINISH in schema:
        return frame
    theirs = next((name for name in schema if key(name) in FINISHES and schema[name] == pl.String), None)
    flag = next((name for name in schema if key(name) == TRUNCATED and schema[name] == pl.Boolean), None)
    if theirs is not None:
        return frame.with_columns(pl.col(theirs).alias(FINISH))
    return frame if flag is None else frame.with_columns(pl.when(flag).then(pl.lit("length")).alias(FINISH))


def how_read_expressions(schema: pl.Schema) -> list[pl.Expr]:
    """Return expressions for truncated responses, and for stored answers that are just the last number in a text."""
    expressions = []
    if FINISH in schema and schema[FINISH] in (pl.String, pl.Categorical, pl.Enum):
        expressions.append(cut_expression(FINISH).alias(CUT))
    if "answer" in schema and RULE in schema and schema[RULE] == pl.String:
        expressions.append((pl.col(RULE) == LAST_NUMBER).fill_null(value=False).alias(LAST))
    return expressions
