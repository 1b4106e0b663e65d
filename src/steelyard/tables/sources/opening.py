"""Any source -> one lazy polars frame: a path, bundled responses, or a table in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import TableError
from steelyard.tables.sources.bundled_grid import is_grid, open_grid
from steelyard.tables.sources.damage import DAMAGE, first_line
from steelyard.tables.sources.table_files import open_file


def open_table(source: Any) -> pl.LazyFrame:
    """Return a lazy frame over a path, over bundled responses or over anything that speaks Arrow."""
    if isinstance(source, str | Path):
        return open_grid(str(source)) if is_grid(source) else open_file(Path(source))
    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, pl.DataFrame):
        return source.lazy()
    try:
        if hasattr(source, "__arrow_c_stream__"):
            return pl.DataFrame(source).lazy()
        if hasattr(source, "to_polars"):  # Hugging Face datasets
            return open_table(source.to_polars())
        if isinstance(source, dict | list):
            return pl.DataFrame(source, infer_schema_length=None).lazy()
    except (*DAMAGE, TypeError, ValueError, ImportError) as error:
        raise TableError(f"cannot read this {type(source).__name__} as a table: {first_line(error)}") from None
    raise TableError(
        f"cannot read a {type(source).__name__}: give a path, or a table of polars, pandas, pyarrow, DuckDB or datasets"
    )
