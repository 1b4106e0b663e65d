"""Annotate a table of responses with the extracted answer, rule and class of each row, and summarize them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from steelyard.answers.doubtful_answers import cut_expression
from steelyard.answers.extract import CUT_OFF, Extracted
from steelyard.answers.normal import COSTLY
from steelyard.answers.reader import AnswerReader


@dataclass(frozen=True)
class Reading:
    """The result of reading a table, as `steelyard answers` shows it."""

    table: pl.DataFrame  # the input rows plus answer, rule, same_as and undecided
    rules: pl.DataFrame  # rule, responses, share
    merged: pl.DataFrame  # question, answer, spellings, responses
    unreadable: int
    undecided: int
    cut: int  # responses cut off by their length limit before they marked an answer
    costly: int  # answers that exceeded their step budget: each is its own class
    kind: str | None = None  # the kind the answers were read as
    reason: str | None = None  # why this kind was chosen; None if the caller named it


def read_answers(table: pl.DataFrame, reader: AnswerReader, progress: Callable[[float], None] | None = None) -> Reading:
    """Read and group the answers of a table with `question` and `answer` or `response`.

    `same_as` is the key of an answer: within a question, equal keys mean the same answer.
    `undecided` marks an answer whose comparison with another answer of its question timed out.
    """
    prefers_response = reader.kind.similarity is not None and "response" in table.columns
    has_answers = "answer" in table.columns and not prefers_response
    rows = table if has_answers else _extracted(table, reader, progress)
    spelled = rows.select(pl.col("question", "answer").cast(pl.String))
    distinct = spelled.group_by("question", "answer", maintain_order=True).agg(votes=pl.len().cast(pl.Int64))
    ids = distinct["question"].rank("dense").fill_null(0).to_numpy().astype(np.int64)
    keys = reader.keys(distinct["answer"], ids, distinct["votes"].to_numpy)
    undecided = keys.is_in(list(reader.undecided_keys)).fill_null(False)
    keyed = distinct.drop("votes").with_columns(keys.alias("same_as"), undecided.alias("undecided"))
    texts = rows.with_columns(pl.col("question", "answer").cast(pl.String))
    full = texts.join(keyed, on=["question", "answer"], how="left", nulls_equal=True, maintain_order="left")
    reason = reader.choice.reason if reader.choice else None
    return replace(summarize(full), kind=reader.kind.name, reason=reason)


def summarize(rows: pl.DataFrame) -> Reading:
    """Summarize rows that already have their answers."""
    return Reading(
        rows,
        _rules(rows),
        _merged(rows),
        rows["same_as"].null_count(),
        int(rows["undecided"].sum()),
        int((rows["rule"] == CUT_OFF.rule).sum()) if "rule" in rows.columns else 0,
        int(rows["same_as"].str.starts_with(COSTLY).sum()),
    )


def _extracted(table: pl.DataFrame, reader: AnswerReader, progress: Callable[[float], None] | None) -> pl.DataFrame:
    readings: list[Extracted] = []
    cut = cut_expression("finish") if "finish" in table.columns else pl.lit(value=False)
    for part in table.select(pl.col("response").cast(pl.String), cut.alias("cut")).iter_slices(2000):
        readings += reader.extract(part["response"], part["cut"])
        if progress:
            progress(len(readings) / table.height)
    return table.with_columns(
        pl.Series("answer", [answer for answer, _ in readings], pl.String),
        pl.Series("rule", [rule for _, rule in readings], pl.String),
    )


def _rules(rows: pl.DataFrame) -> pl.DataFrame:
    if "rule" not in rows.columns:
        rows = rows.with_columns(rule=pl.lit("given"))
    counted = rows.group_by("rule").agg(responses=pl.len()).sort("responses", "rule", descending=[True, False])
    return counted.with_columns(share=pl.col("responses") / rows.height)


def _merged(rows: pl.DataFrame) -> pl.DataFrame:
    """Classes with more than one spelling, largest first."""
    classes = rows.filter(pl.col("same_as").is_not_null()).group_by("question", "same_as", maintain_order=True)
    spelled = classes.agg(
        answer=pl.col("answer").first().str.strip_chars(),
        spellings=pl.col("answer").str.strip_chars().unique(maintain_order=True),
        responses=pl.len(),
    )
    several = spelled.filter(pl.col("spellings").list.len() > 1)
    return several.sort("responses", descending=True, maintain_order=True).drop("same_as")
