"""A table of responses -> the same table with what was read: answer, rule, class; and a summary of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from steelyard.answers.extract import CUT_OFF, Extracted
from steelyard.answers.how_read import cut_expression
from steelyard.answers.normal import COSTLY
from steelyard.answers.reader import AnswerReader


@dataclass(frozen=True)
class Reading:
    """What `steelyard answers` shows."""

    table: pl.DataFrame  # the rows with answer, rule, same_as and undecided
    rules: pl.DataFrame  # rule, responses, share
    merged: pl.DataFrame  # question, answer, spellings, responses
    unreadable: int
    undecided: int
    cut: int  # responses that their length limit ended before they marked an answer
    costly: int  # answers that cost more steps than their length allows: each is a class of its own


def read_answers(table: pl.DataFrame, reader: AnswerReader, progress: Callable[[float], None] | None = None) -> Reading:
    """Read and group the answers of a table with `question` and `answer` or `response`.

    `same_as` is the key of an answer: equal within a question when the answers are the same.
    `undecided` marks an answer that nobody could tell from another one of its question in time.
    """
    rows = table if "answer" in table.columns else _extracted(table, reader, progress)
    spelled = rows.select(pl.col("question", "answer").cast(pl.String))
    distinct = spelled.group_by("question", "answer", maintain_order=True).agg(votes=pl.len().cast(pl.Int64))
    ids = distinct["question"].rank("dense").fill_null(0).to_numpy().astype(np.int64)
    keys = reader.keys(distinct["answer"], ids, distinct["votes"].to_numpy)
    apart = keys.is_in(list(reader.apart)).fill_null(False)
    known = distinct.drop("votes").with_columns(keys.alias("same_as"), apart.alias("undecided"))
    texts = rows.with_columns(pl.col("question", "answer").cast(pl.String))
    full = texts.join(known, on=["question", "answer"], how="left", nulls_equal=True, maintain_order="left")
    return described(full)


def described(full: pl.DataFrame) -> Reading:
    """What is to be said of rows that have their answers."""
    return Reading(
        full,
        _rules(full),
        _merged(full),
        full["same_as"].null_count(),
        int(full["undecided"].sum()),
        int((full["rule"] == CUT_OFF.rule).sum()) if "rule" in full.columns else 0,
        int(full["same_as"].str.starts_with(COSTLY).sum()),
    )


def _extracted(table: pl.DataFrame, reader: AnswerReader, progress: Callable[[float], None] | None) -> pl.DataFrame:
    found: list[Extracted] = []
    ended = cut_expression("finish") if "finish" in table.columns else pl.lit(value=False)
    for part in table.select(pl.col("response").cast(pl.String), ended.alias("cut")).iter_slices(2000):
        found += reader.extract(part["response"], part["cut"])
        if progress:
            progress(len(found) / table.height)
    return table.with_columns(
        pl.Series("answer", [answer for answer, _ in found], pl.String),
        pl.Series("rule", [rule for _, rule in found], pl.String),
    )


def _rules(rows: pl.DataFrame) -> pl.DataFrame:
    if "rule" not in rows.columns:
        rows = rows.with_columns(rule=pl.lit("given"))
    counted = rows.group_by("rule").agg(responses=pl.len()).sort("responses", "rule", descending=[True, False])
    return counted.with_columns(share=pl.col("responses") / rows.height)


def _merged(rows: pl.DataFrame) -> pl.DataFrame:
    """Classes with several spellings, the largest first."""
    classes = rows.filter(pl.col("same_as").is_not_null()).group_by("question", "same_as", maintain_order=True)
    spelled = classes.agg(
        answer=pl.col("answer").first().str.strip_chars(),
        spellings=pl.col("answer").str.strip_chars().unique(maintain_order=True),
        responses=pl.len(),
    )
    several = spelled.filter(pl.col("spellings").list.len() > 1)
    return several.sort("responses", descending=True, maintain_order=True).drop("same_as")
