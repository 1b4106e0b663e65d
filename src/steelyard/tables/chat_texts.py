"""Texts that are written as chat messages or as JSON -> plain columns."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from steelyard.tables.columns import KNOWN
from steelyard.tables.names import SCORE_LIKE, key

LOOKED_AT = 100  # rows


def is_chat(kind: pl.DataType) -> bool:
    """Whether a column holds messages with a role and a content."""
    inner = kind.inner if isinstance(kind, pl.List) else None
    return isinstance(inner, pl.Struct) and {"role", "content"} <= {field.name for field in inner.fields}


def chat_text(column: pl.Expr) -> pl.Expr:
    """The content of the last message."""
    return column.list.last().struct.field("content").cast(pl.String)


def flattened(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Chat messages as the text of the last one, and a struct of scores as one column per score."""
    schema = frame.collect_schema()
    frame = frame.with_columns(chat_text(pl.col(name)).alias(name) for name, kind in schema.items() if is_chat(kind))
    for name, kind in schema.items():
        if isinstance(kind, pl.Struct) and name not in KNOWN:
            scores = [field.name for field in kind.fields if _is_numbers(field.dtype)]
            taken = set(frame.collect_schema().names())
            frame = frame.with_columns(
                pl.col(name).struct.field(score).alias(f"{name}.{score}" if score in taken else score)
                for score in scores
            )
    return frame


def _is_numbers(kind: Any) -> bool:
    inner = kind.inner if isinstance(kind, pl.List) else kind
    return bool(inner.is_numeric())


def json_lists(frame: pl.LazyFrame, names: list[str]) -> dict[str, list[Any]]:
    """The first rows of those columns of text that hold JSON lists, read."""
    if not names:
        return {}
    found = {}
    for column in frame.select(names).head(LOOKED_AT).collect().iter_columns():
        values = [_read(text) for text in column.drop_nulls()]
        if values and all(isinstance(value, list) for value in values):
            found[column.name] = values
    return found


def _read(text: str) -> Any:
    if not (text.lstrip().startswith("[") and text.rstrip().endswith("]")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def with_step_scores(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Lists of step scores that were written as text, as a CSV file must, become lists."""
    schema = frame.collect_schema()
    texts = [name for name, kind in schema.items() if kind == pl.String and name not in KNOWN]
    numbers = [
        name
        for name, lists in json_lists(frame, texts).items()
        if all(each is None or isinstance(each, int | float) for steps in lists for each in steps)
        and (SCORE_LIKE.search(key(name)) or any(lists))
    ]
    return frame.with_columns(_numbers(pl.col(name)) for name in numbers)


def _numbers(column: pl.Expr) -> pl.Expr:
    """The numbers of a JSON list; what is no number is an error when the table is read."""
    parts = column.str.strip_chars().str.strip_prefix("[").str.strip_suffix("]").str.split(",")
    each = pl.element().str.strip_chars()
    known = pl.when(each.is_in(["", "null", "NaN", "nan", "None"])).then(None).otherwise(each)
    return parts.list.eval(known.cast(pl.Float64, strict=True))
