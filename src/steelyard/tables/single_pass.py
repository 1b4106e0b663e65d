"""Pools of a table that is read once: the order of its rows is checked on the way, not before the first pool.

The caller must be able to drop all pools again: that rows are not in order, or anything else that is wrong, is found
out after some of them were made. The pools are those of row_order.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.answers.reader import AnswerReader
from steelyard.tables import row_order
from steelyard.tables.pools_from_frames import SECRET
from steelyard.tables.sources.file_checks import partial_read
from steelyard.tables.sources.parquet_slices import ParquetFile, can_slice, slices
from steelyard.voting.pools.label_conflicts import LabelConflicts
from steelyard.voting.pools.origin import Origin
from steelyard.voting.pools.pool import Pool

COLUMNS = {"question", "sample", "answer", "score"}


def pools_in_one_pass(
    table: pl.LazyFrame,
    columns: Sequence[pl.Expr],
    origin: Callable[[float | None], Origin],
    reader: AnswerReader,
    progress: Callable[[float], None] | None,
    file: ParquetFile | None = None,
) -> Iterator[Pool]:
    """Make a pool of the complete questions of every batch; ScatteredError if the rows prove not to be in order.

    A batch is only dealt with when the next one has shown whether its last question goes on. `origin` returns the
    origin of a pool; of the last one by the share of all questions that have one response. `file` is the Parquet file
    that the table is, if any.
    """
    names = sorted({name for column in columns for name in column.meta.root_names()})
    as_it_is = all(_changes_nothing(column, table.collect_schema()) for column in columns)
    total = table.select(pl.len()).collect().item()
    if not total:  # reading in any order says what is wrong
        raise row_order.ScatteredError
    hashes = [np.empty(0, np.uint64)]  # of all questions
    single = 0  # questions with one response
    rest: list[pl.Series] = []  # the answers and scores of rows that are in no pool yet,
    rows, begins, questions = 0, np.empty(0, np.int64), pl.Series("question", [], pl.String)  # and their questions
    read = begun = sample = 0  # rows, questions, and the last sample number

    def pool_before(end: int, origin: Origin) -> Iterator[Pool]:
        """Make a pool of all rows before `end`, where a question begins."""
        offsets = np.append(begins[begins < end], end)
        if end:
            complete = questions.head(len(offsets) - 1)
            rest[:] = [column.rechunk() for column in rest]  # what was read need not be held until the next batch
            frame = pl.DataFrame([column.head(end) for column in rest])
            yield row_order.counted_pool(frame, complete, offsets, origin, reader, LabelConflicts())
        if progress and read:
            progress(min(1.0, read / total))

    for batch in _batches(table.select(names), file, total):
        frame = batch if as_it_is else batch.select(columns)
        found, runs = row_order.checked_runs(frame, [])
        goes_on = rows > 0 and questions[-1] == runs[0]
        begun += len(runs) - int(goes_on)
        if row_order.MANY_RUNS * (begun - 1) > read + frame.height:  # all may come back, such as sample by sample
            raise row_order.ScatteredError
        if "sample" in frame.columns:
            if goes_on and frame["sample"][0] <= sample:
                raise row_order.ScatteredError
            sample = frame["sample"][-1]
        end = int(begins[-1]) if goes_on else rows
        single += int(np.count_nonzero(np.diff(np.append(begins[begins < end], end)) == 1))
        yield from pool_before(end, origin(None))
        read += frame.height
        kept, new = rows - end, int(goes_on)
        hashes.append(runs.slice(new).hash(SECRET).to_numpy())
        begins = np.concatenate((begins[begins >= end] - end, found[new:] + kept))
        questions = pl.concat((questions.tail(new), runs.slice(new)))
        added = [frame[name] for name in frame.columns if name not in row_order.KEYS]
        rest = [pl.concat((old.slice(end), more)) for old, more in zip(rest, added, strict=True)] if kept else added
        rows = kept + frame.height
    if read != total:
        raise partial_read()
    single += int(np.count_nonzero(np.diff(begins, append=rows) == 1))
    yield from pool_before(rows, origin(single / _count_distinct(hashes)))


def _batches(table: pl.LazyFrame, file: ParquetFile | None, total: int) -> Iterator[pl.DataFrame]:
    """Read a table in batches of rows, none of which is empty."""
    return slices(table, file, total) if file is not None and can_slice(table, total) else row_order.batches(table)


def _count_distinct(hashes: list[NDArray[np.uint64]]) -> int:
    """Count the questions, of which no two may have the same hash: those would be read again, in any order."""
    ordered = np.sort(np.concatenate(hashes))
    if (ordered[1:] == ordered[:-1]).any():
        raise row_order.ScatteredError
    return len(ordered)


def _changes_nothing(column: pl.Expr, schema: pl.Schema) -> bool:
    """Whether an expression is a column as it is in the table; the width of sample numbers does not matter."""
    name = column.meta.output_name()
    if name not in schema or column.meta.root_names() != [name]:
        return False
    kind = pl.Int64() if name == "sample" and schema[name].is_signed_integer() else schema[name]
    same = pl.col(name), pl.col(name).cast(kind), pl.col(name).cast(kind).alias(name)
    return any(column.meta.eq(other) for other in same)
