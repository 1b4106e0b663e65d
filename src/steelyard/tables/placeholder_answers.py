"""Placeholders for a missing answer in the column `answer`: those that are never the correct answer.

They are determined once per table, from its golds and labels, so that a vote and an evaluation read the same answers.
"""

from __future__ import annotations

import polars as pl

from steelyard.answers.placeholders import PLACEHOLDERS, folded_column
from steelyard.answers.reader import AnswerReader
from steelyard.tables.columns import label_expression

OF_A_RUN = {"response", "sample", "tokens"}  # columns of a run, whose answers were read from its responses


def settle_placeholders(frame: pl.LazyFrame, reader: AnswerReader) -> None:
    """Set the placeholders of a reader, unless they are set; answers read from responses have none."""
    if reader.placeholders is not None:
        return
    schema = frame.collect_schema()
    has_answers = schema.get("answer") == pl.String and reader.drops_placeholders and not set(schema) >= OF_A_RUN
    reader.placeholders = PLACEHOLDERS - _answers(frame, schema) if has_answers else frozenset()


def _answers(frame: pl.LazyFrame, schema: pl.Schema) -> frozenset[str]:
    """Return the placeholders that are a gold answer or labelled correct."""
    columns = []
    if schema.get("gold") in (pl.String, pl.List(pl.String)):
        gold = pl.col("gold") if schema["gold"] == pl.String else pl.col("gold").explode()
        columns.append(frame.select(folded_column(gold).alias("word")))
    label = label_expression(schema)
    if label is not None:
        columns.append(frame.filter(label).select(folded_column(pl.col("answer")).alias("word")))
    if not columns:
        return frozenset()
    used = pl.concat(columns).filter(pl.col("word").is_in(sorted(PLACEHOLDERS))).unique()
    return frozenset(used.collect(engine="streaming")["word"])
