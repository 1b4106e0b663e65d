"""Chat messages and JSON text -> plain columns."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from steelyard.tables.columns import KNOWN
from steelyard.tables.names import SCORE_LIKE, key

INSPECTED_ROWS = 100


def is_chat(kind: pl.DataType) -> bool:
    """Whether a column contains lists of messages with a role and a content."""
    inner = kind.inner if isinstance(kind, pl.List) else None
    return isinstance(inner, pl.Struct) and {"role", "content"} <= {field.name for field in inner.fields}


def chat_text(column: pl.Expr) -> pl.Expr:
    """Return the content of the last message."""
    return column.list.last().struct.field("content").cast(pl.String)


def flattened(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Replace chat messages by the text of the last one, and add a column per score in a struct of scores."""
    schema = frame.collect_schema()
    frame = frame.with_columns(chat_text(pl.col(name)).alias(name) for name, kind in schema.items() if is_chat(kind))
    for name, kind in schema.items():
        if isinstance(kind, pl.Struct) and name not in KNOWN:
            scores = [field.name for field in kind.fields if _is_numbers(field.dtype)]
            existing = set(frame.collect_schema().names())
            frame = frame.with_columns(
                pl.col(name).struct.field(score).alias(f"{name}.{score}" if score in existing else score)
                for score in scores
            )
    return frame


def _is_numbers(kind: Any) -> bool:
    inner = kind.inner if isinstance(kind, pl.List) else kind
    return bool(inner.is_numeric())


def json_lists(frame: pl.LazyFrame, names: list[str]) -> dict[str, list[Any]]:
    """Return the parsed first rows of the columns that contain JSON lists."""
    if not names:
        return {}
    lists = {}
    for column in frame.select(names).head(INSPECTED_ROWS).collect().iter_columns():
        values = [_read(text) for text in column.drop_nulls()]
        if values and all(isinstance(value, list) for value in values):
            lists[column.name] = values
    return lists


def _read(text: str) -> Any:
    if not (text.lstrip().startswith("[") and text.rstrip().endswith("]")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def with_step_scores(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Parse lists of step scores that are written as text, as in CSV files."""
    schema = frame.collect_schema()
    texts = [name for name, kind in schema.items() if kind == pl.String and name not in KNOWN]
    numbers = [
        name
        for name, lists in json_lists(frame, texts).items()
        if all(step is None or isinstance(step, int | float) for steps in lists for step in steps)
        and (SCORE_LIKE.search(key(name)) or any(lists))
    ]
    return frame.with_columns(_numbers(pl.col(name)) for name in numbers)


def _numbers(column: pl.Expr) -> pl.Expr:
    """Parse a JSON list of numbers; anything else is an error when the table is read."""
    parts = column.str.strip_chars().str.strip_prefix("[").str.strip_suffix("]").str.split(",")
    entry = pl.element().str.strip_chars()
    number = pl.when(entry.is_in(["", "null", "NaN", "nan", "None"])).then(None).otherwise(entry)
    return parts.list.eval(number.cast(pl.Float64, strict=True))
