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
    """
    try:
        return _frame(rows)
    except UNLIKE:
        names = list(dict.fromkeys(name for row in rows for name in row))
        return pl.DataFrame([_column(name, [row.get(name) for row in rows]) for name in names])


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def _column(name: str, values: list[Any]) -> pl.Series:
    try:
        return _frame([{name: value} for value in values]).to_series()
    except UNLIKE:
        texts = [each if each is None or isinstance(each, str) else json.dumps(each) for each in values]
        return pl.Series(name, texts, pl.String)
