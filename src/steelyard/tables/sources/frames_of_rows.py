"""Rows of Python objects -> a frame; a column that holds too many kinds of things is kept as JSON text."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

UNLIKE = (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def frame_of_rows(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Return rows as columns. Whatever hangs on a row (metadata, say) must not keep the others from being read.

    >>> frame_of_rows([{"answer": "1", "more": [1, [2]]}, {"answer": "2", "more": None}]).rows()
    [('1', '[1, [2]]'), ('2', None)]
    >>> frame_of_rows([{"answer": "1", "more": 1}, {"answer": "2", "more": {"a": 2}}]).rows()
    [('1', '1'), ('2', '{"a": 2}')]
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    try:
        frame = _frame(rows)
    except UNLIKE:
        return pl.DataFrame([column_of_values(name, [row.get(name) for row in rows]) for name in names])
    odd = [name for name in names if is_lossy([row.get(name) for row in rows], frame[name])]
    return frame.with_columns(_texts(name, [row.get(name) for row in rows]) for name in odd)


def is_lossy(values: list[Any], column: pl.Series) -> bool:
    """Whether a column lost something: polars drops what stands where others have objects, and rounds large numbers."""
    if column.dtype.is_float():
        return any(type(value) is int and int(float(value)) != value for value in values)
    return "Struct" in str(column.dtype) and any(map(_lost, values, column.to_list()))


def _lost(value: Any, kept: Any) -> bool:
    if isinstance(value, dict):
        return any(_lost(each, kept.get(name) if isinstance(kept, dict) else None) for name, each in value.items())
    if isinstance(value, list):
        return bool(value) and (kept is None or any(map(_lost, value, kept)))
    return value is not None and kept is None


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def column_of_values(name: str, values: list[Any]) -> pl.Series:
    """Return one column; values of different kinds as JSON text."""
    if all(value is None or isinstance(value, str) for value in values):
        return pl.Series(name, values, pl.String)
    try:
        column = _frame([{name: value} for value in values]).to_series()
    except UNLIKE:
        return _texts(name, values)
    return _texts(name, values) if is_lossy(values, column) else column


def _texts(name: str, values: list[Any]) -> pl.Series:
    texts = [each if each is None or isinstance(each, str) else json.dumps(each, default=str) for each in values]
    return pl.Series(name, texts, pl.String)
