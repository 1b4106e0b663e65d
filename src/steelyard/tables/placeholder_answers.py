"""Which placeholders in a table's column of answers stand for no answer: those that are never the correct answer.

It is settled once for a whole table, with its golds and labels, so that a vote and an evaluation read the same answers.
"""

from __future__ import annotations

import polars as pl

from steelyard.answers.placeholders import PLACEHOLDERS, folded_column
from steelyard.answers.reader import AnswerReader
from steelyard.tables.columns import label_expression

OF_A_RUN = {"response", "sample", "tokens"}  # columns beside the answers that a run has read out of its responses


def settle_placeholders(frame: pl.LazyFrame, reader: AnswerReader) -> None:
    """Tell a reader which words are no answers, unless it knows; what is read out of responses is what the LLM says."""
    if reader.placeholders is not None:
        return
    schema = frame.collect_schema()
    has_answers = schema.get("answer") == pl.String and reader.drops_placeholders and not set(schema) >= OF_A_RUN
    reader.placeholders = PLACEHOLDERS - _answers(frame, schema) if has_answers else frozenset()


def _answers(frame: pl.LazyFrame, schema: pl.Schema) -> frozenset[str]:
    """The placeholders that are a gold answer, or labelled correct."""
    columns = []
    if schema.get("gold") in (pl.String, pl.List(pl.String)):
        gold = pl.col("gold") if schema["gold"] == pl.String else pl.col("gold").explode()
        columns.append(frame.select(folded_column(gold).alias("word")))
    label = label_expression(schema)
    if label is not None:
        columns.append(frame.filter(label).select(folded_column(pl.col("answer")).alias("word")))
    if not columns:
        return frozenset()
    known = pl.concat(columns).filter(pl.col("word").is_in(sorted(PLACEHOLDERS))).unique()
    return frozenset(known.collect(engine="streaming")["word"])
