"""Responses of a question with the same text, which a verifier need not score twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from steelyard.tables.sources.bundled_grid import PREFIX, grid_texts, is_grid
from steelyard.voting.pools.arrays import Ints

NAME = "text"  # column of codes


def with_codes(frame: pl.LazyFrame, table: Any) -> tuple[pl.LazyFrame, pl.Expr | None]:
    """Return the rows and an expression for the code of each text, None if the table has no texts.

    A code is a 64-bit hash; the texts of the bundled grid are in a separate file.
    """
    schema = frame.collect_schema()
    if is_grid(table):
        llm = str(table).removeprefix(PREFIX).partition("/")[0]
        codes = grid_texts(llm).select("question", "sample", pl.col("response").hash(0).alias("code of the text"))
        joined = frame.join(codes.lazy(), on=["question", "sample"], how="left", maintain_order="left")
        return joined, pl.col("code of the text").alias(NAME)
    if schema.get("response") != pl.String:
        return frame, None
    return frame, pl.when(pl.col("response").is_not_null()).then(pl.col("response").hash(0)).alias(NAME)


def codes_of(column: pl.Series) -> Ints:
    """Return the codes as an array; a response without a text gets a unique code."""
    hashed = column.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
    return np.where(column.is_null().to_numpy(), -1 - np.arange(len(column)), hashed)
