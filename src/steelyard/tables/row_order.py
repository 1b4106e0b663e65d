"""The order of the rows, settled before anything is read: each question's stand together, by sample.

One pass over two columns finds out. Of a table in order it keeps the ids of the questions and where each begins, which
cuts the later batches; a table in another order is sorted in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from steelyard.foundation.errors import ColumnError, TableError
from steelyard.voting.pools.arrays import Ints

BATCH = 100_000  # rows
KEYS = ("question", "sample", "source")


class ScatteredError(Exception):
    """A question's rows do not stand together in the order of their samples."""


class Order(NamedTuple):
    """The questions of a table in the order of its rows, and where each begins; the last entry is the end."""

    questions: pl.Series
    starts: Ints


class Ordered(NamedTuple):
    """Rows in order, and which of their columns are wanted."""

    rows: pl.LazyFrame
    wanted: Sequence[pl.Expr]
    order: Order


def in_order(table: pl.LazyFrame, wanted: Sequence[pl.Expr]) -> Ordered:
    """Return the rows of a table in order, whatever order they have; `sample` has then done its work."""
    keys = [expression for expression in wanted if expression.meta.output_name() in KEYS]
    try:
        rest = [expression for expression in wanted if expression.meta.output_name() != "sample"]
        return Ordered(table, rest, order_of(table, keys))
    except ScatteredError:
        rows = together(table.select(wanted))
        order = order_of(rows, [pl.col(name) for name in KEYS if name in rows.collect_schema()])
        return Ordered(rows, [pl.all().exclude("sample")], order)


def order_of(table: pl.LazyFrame, keys: Sequence[pl.Expr]) -> Order:
    """Find where each question begins, in one pass; rows that are not in order are a ScatteredError.

    The keys are computed batch by batch here, as the later columns are.
    """
    names = sorted({name for key in keys for name in key.meta.root_names()})
    heads: list[pl.Series] = [pl.Series("question", [], pl.String)]
    lengths: list[Ints] = []
    before: pl.DataFrame | None = None  # the last sample of the batch before, of all its sources
    for read in table.select(names).collect_batches(chunk_size=BATCH, maintain_order=True):
        if not read.height:
            continue
        batch = read.select(keys)
        frame = batch if before is None else pl.concat((before, batch))
        runs = frame["question"].rle().struct.unnest()
        length = runs["len"].to_numpy().astype(np.int64)
        _check(frame, runs["value"], length)
        new = int(before is not None)  # the first run goes on with the question before
        if before is not None:
            lengths[-1][-1] += length[0] - before.height
        if len(length) > new:
            heads.append(runs["value"].slice(new))
            lengths.append(length[new:])
        before = _last_sample(frame, int(length[-1]))
    questions = pl.concat(heads)
    starts = np.concatenate(([0], np.cumsum(np.concatenate((np.empty(0, np.int64), *lengths)))))
    if starts[-1] != table.select(pl.len()).collect().item():  # batches of a damaged file may just end
        raise cut_short()
    if questions.n_unique() < len(questions):
        raise ScatteredError
    return Order(questions, starts)


def cut_short() -> TableError:
    """The error of a table that gave other rows than it has, or than it gave before."""
    return TableError("the table was read only in part: the reading was interrupted, or it changed; run it again")


def _check(frame: pl.DataFrame, questions: pl.Series, length: Ints) -> None:
    """Notice rows that are not in order; refuse those without a question or a sample, and a sample that comes twice."""
    if questions.null_count():
        raise ColumnError(f"{frame['question'].null_count()} rows or more have no question id: fill 'question'")
    if questions.n_unique() < len(questions):
        raise ScatteredError
    if "sample" not in frame.columns:
        return
    missing = frame["sample"].null_count()
    if missing:
        raise ColumnError(f"{missing} rows or more have no sample number: fill or drop the column 'sample'")
    sample = frame["sample"].to_numpy()
    within = np.ones(len(sample) - 1, bool)  # pairs of neighbours that answer one question
    within[np.cumsum(length)[:-1] - 1] = False
    same, falls = sample[1:] == sample[:-1], sample[1:] < sample[:-1]
    by_source = "source" in frame.columns  # each source numbers its own samples
    if (within & falls).any():
        raise ScatteredError
    if by_source:  # their order within a sample is that of the table: a tie must not be broken by a name
        number = np.concatenate(([0], np.cumsum(~(within & same))))
        repeated = pl.DataFrame({"sample": number, "source": frame["source"]}).is_duplicated().to_numpy()
        twice = np.flatnonzero(repeated)
    else:
        twice = np.flatnonzero(within & same)
    if len(twice):
        row = int(twice[0])
        of, who = (
            (" of one source", "") if by_source else ("", " name the column that says who answered (--source llm),")
        )
        raise TableError(
            f"question {frame['question'][row]!r} has sample {frame['sample'][row]}{of} more than once: "
            f"number its samples 0, 1, 2, ..,{who} or drop the repeated rows"
        )


def _last_sample(frame: pl.DataFrame, rows: int) -> pl.DataFrame:
    """The last rows of a batch that have one sample number; the last question has so many rows there."""
    if "sample" not in frame.columns:
        return frame.tail(1)
    sample = frame["sample"].tail(rows).to_numpy()
    return frame.tail(rows - int(np.searchsorted(sample, sample[-1])))


def together(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Bring the rows of each question together, in order of samples and then of the table; questions as first seen."""
    numbered = rows.with_row_index("row").with_columns(pl.col("row").min().over("question").alias("group"))
    order = ["group", *(["sample"] if "sample" in rows.collect_schema() else []), "row"]
    return numbered.sort(order).drop("row", "group").collect().lazy()
