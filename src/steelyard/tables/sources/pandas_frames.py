"""pandas frames -> polars, with pyarrow if it is installed and can convert them, else column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.tables.sources.damage import DAMAGE
from steelyard.tables.sources.frames_of_rows import column_of_values

UNCONVERTED = (*DAMAGE, TypeError, ValueError, ImportError, NotImplementedError)  # what pyarrow and polars raise
NUMBERS = "biuf"  # numpy kinds that polars accepts directly


def is_pandas(source: Any) -> bool:
    """Whether a table is a pandas DataFrame, without importing pandas."""
    return type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "columns")


def from_pandas(frame: Any) -> pl.DataFrame:
    """Convert a DataFrame; a named index, as made by `groupby` and `set_index`, becomes a column."""
    if any(name is not None for name in frame.index.names) and not set(frame.index.names) & set(frame.columns):
        frame = frame.reset_index()
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"the DataFrame has two columns {twice!r}: remove or rename one")
    try:
        return pl.DataFrame(frame, nan_to_null=True)
    except UNCONVERTED:
        return pl.DataFrame([_column(name, frame.iloc[:, i]) for i, name in enumerate(names)])


def _column(name: str, column: Any) -> pl.Series:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in NUMBERS:
        return pl.Series(name, column.to_numpy(), nan_to_null=True)
    pairs = zip(column.astype(object), column.isna(), strict=True)
    return column_of_values(name, [None if missing else _plain(value) for value, missing in pairs])


def _plain(value: Any) -> Any:
    """Convert numpy arrays and scalars to Python lists and numbers."""
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return {str(key): _plain(entry) for key, entry in value.items()} if isinstance(value, dict) else value
