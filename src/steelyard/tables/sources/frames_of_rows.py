"""Rows of Python objects -> a frame; a column of mixed types becomes JSON text."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

MIXED = (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def frame_of_rows(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Return rows as a frame. An odd column (metadata, say) must not prevent the others from being read.

    >>> frame_of_rows([{"answer": "1", "more": [1, [2]]}, {"answer": "2", "more": None}]).rows()
    [('1', '[1, [2]]'), ('2', None)]
    >>> frame_of_rows([{"answer": "1", "more": 1}, {"answer": "2", "more": {"a": 2}}]).rows()
    [('1', '1'), ('2', '{"a": 2}')]
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    try:
        frame = _frame(rows)
    except MIXED:
        return pl.DataFrame([column_of_values(name, [row.get(name) for row in rows]) for name in names])
    odd = [name for name in names if is_lossy([row.get(name) for row in rows], frame[name])]
    return frame.with_columns(_texts(name, [row.get(name) for row in rows]) for name in odd)


def is_lossy(values: list[Any], column: pl.Series) -> bool:
    """Whether polars lost values: it drops scalars in a column of objects, and rounds large integers."""
    if column.dtype.is_float():
        return any(type(value) is int and int(float(value)) != value for value in values)
    return "Struct" in str(column.dtype) and any(map(_is_lost, values, column.to_list()))


def _is_lost(value: Any, stored: Any) -> bool:
    if isinstance(value, dict):
        return any(_is_lost(v, stored.get(name) if isinstance(stored, dict) else None) for name, v in value.items())
    if isinstance(value, list):
        return bool(value) and (stored is None or any(map(_is_lost, value, stored)))
    return value is not None and stored is None


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def column_of_values(name: str, values: list[Any]) -> pl.Series:
    """Return one column; values of mixed types become JSON text."""
    if all(value is None or isinstance(value, str) for value in values):
        return pl.Series(name, values, pl.String)
    try:
        column = _frame([{name: value} for value in values]).to_series()
    except MIXED:
        return _texts(name, values)
    return _texts(name, values) if is_lossy(values, column) else column


def _texts(name: str, values: list[Any]) -> pl.Series:
    texts = [value if value is None or isinstance(value, str) else json.dumps(value, default=str) for value in values]
    return pl.Series(name, texts, pl.String)
