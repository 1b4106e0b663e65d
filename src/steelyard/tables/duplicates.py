"""Duplicates: rows of a file joined to itself or written twice, and responses with the same text.

With sample numbers, a duplicate is refused. Without them, the same answer with the same score may be two samples,
especially at low temperatures. But if every row of a question has a twin, although the rows are not all equal, and if
this holds for most questions, then the rows were duplicated: every vote counts twice and all error bars are wrong.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl

from steelyard.foundation.errors import SteelyardWarning
from steelyard.tables.sources.bundled_grid import PREFIX, grid_texts, is_grid
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import Pool

INSPECTED_ROWS = 20_000
MIN_QUESTIONS = 10
TEXT_CODE = "text"  # column with a code per text, so that a verifier scores each text once


class RepeatedRows:
    """Counts, pool by pool, the questions whose rows differ, and those of them in which every row has a twin."""

    def __init__(self) -> None:
        self.responses = self.varied = self.doubled = 0

    def inspect(self, pool: Pool) -> None:
        """Count a pool, unless enough rows were inspected."""
        if self.responses < INSPECTED_ROWS and pool.source is None:  # two sources may give the same answer
            self.responses += pool.n_responses
            last = int(np.searchsorted(pool.starts, INSPECTED_ROWS)) + 1
            varied, doubled = twins(pool if last >= pool.n_questions else pool.take(np.arange(last)))
            self.varied += varied
            self.doubled += doubled

    def warn(self) -> None:
        """Warn if rows seem to be duplicated."""
        if self.doubled >= MIN_QUESTIONS and 2 * self.doubled > self.varied:
            warnings.warn(
                f"every row has a twin with the same answer and score in {self.doubled:,} of the {self.varied:,} "
                "inspected questions whose rows differ: the rows seem to be duplicated, as if a file was joined to "
                "itself; drop the duplicates",
                SteelyardWarning,
                stacklevel=3,
            )


def twins(pool: Pool) -> tuple[int, int]:
    """Return how many questions have rows that differ, and in how many of these all counts share a common factor."""
    question = pool.spread(np.arange(pool.n_questions))
    scores = np.zeros(pool.n_responses) if pool.scores is None else np.nan_to_num(pool.scores, nan=-1.0)
    order = np.lexsort((scores, pool.answer, question))
    question, answer, scores = question[order], pool.answer[order], scores[order]
    new = np.ones(len(question), bool)
    new[1:] = (question[1:] != question[:-1]) | (answer[1:] != answer[:-1]) | (scores[1:] != scores[:-1])
    firsts = np.flatnonzero(new)
    times = np.diff(np.append(firsts, len(new)))
    begins = np.flatnonzero(np.diff(question[firsts], prepend=-1))
    shared = np.gcd.reduceat(times, begins)
    varied = np.diff(np.append(begins, len(firsts))) > 1
    return int(varied.sum()), int((varied & (shared > 1)).sum())


def with_codes(frame: pl.LazyFrame, table: Any) -> tuple[pl.LazyFrame, pl.Expr | None]:
    """Return the rows and an expression for the code of each text, None if the table has no texts.

    A code is a 64-bit hash; the texts of the bundled grid are in a separate file.
    """
    schema = frame.collect_schema()
    if is_grid(table):
        llm = str(table).removeprefix(PREFIX).partition("/")[0]
        codes = grid_texts(llm).select("question", "sample", pl.col("response").hash(0).alias("code of the text"))
        joined = frame.join(codes.lazy(), on=["question", "sample"], how="left", maintain_order="left")
        return joined, pl.col("code of the text").alias(TEXT_CODE)
    if schema.get("response") != pl.String:
        return frame, None
    return frame, pl.when(pl.col("response").is_not_null()).then(pl.col("response").hash(0)).alias(TEXT_CODE)


def codes_of(column: pl.Series) -> Ints:
    """Return the codes as an array; a response without a text gets a unique code."""
    hashed = column.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
    return np.where(column.is_null().to_numpy(), -1 - np.arange(len(column)), hashed)
