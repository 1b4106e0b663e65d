"""Tables in memory before a layout reads them: polars, pandas, pyarrow, DuckDB, datasets, lists of dicts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.tables.recognition import Opened, Record
from steelyard.tables.sources.damage import DAMAGE, first_line
from steelyard.tables.sources.pandas_frames import from_pandas, is_pandas

ROWS = 1_000  # converted to Python objects at a time


class OpenedTable(Opened):
    """A table in memory, or a list of records that may be too nested for columns."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.paths = ()

    @cached_property
    def first(self) -> Record:
        try:
            return next(self.records(), {})
        except (TableError, *DAMAGE):
            return {}

    def records(self) -> Iterator[Record]:
        if isinstance(self.source, list):
            yield from (record if isinstance(record, dict) else {} for record in self.source)
            return
        for batch in self._frame.collect_batches(chunk_size=ROWS, maintain_order=True):
            yield from batch.iter_rows(named=True)

    def frame(self) -> pl.LazyFrame:
        return self._frame

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        return lazy_frame(self.source)


def lazy_frame(source: Any) -> pl.LazyFrame:
    """Return a lazy frame over an Arrow-compatible table, or over Python rows or columns."""
    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, pl.DataFrame):
        return source.lazy()
    try:
        if is_pandas(source):
            return from_pandas(source).lazy()
        if hasattr(source, "__arrow_c_stream__"):
            return pl.DataFrame(source).lazy()
        if hasattr(source, "to_polars"):  # Hugging Face datasets
            return lazy_frame(source.to_polars())
        if isinstance(source, dict | list):
            return pl.DataFrame(source, infer_schema_length=None).lazy()
    except (*DAMAGE, TypeError, ValueError, ImportError) as error:
        raise TableError(f"cannot read this {type(source).__name__} as a table: {first_line(error)}") from None
    raise TableError(
        f"cannot read a {type(source).__name__}: pass a path, or a polars, pandas, pyarrow, DuckDB or datasets table"
    )
