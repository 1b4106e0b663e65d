"""Cells that are not plain values: chat messages, JSON text, step scores, answers that are lists, percentages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from steelyard.tables.columns import KNOWN
from steelyard.tables.names import (
    ANSWERS,
    GOLDS,
    LABELS,
    QUESTION_IDS,
    RESPONSES,
    SCORE_LIKE,
    columns_named,
    is_label,
    key,
)

JSON_ROWS = 100
SINGULAR = ANSWERS | RESPONSES  # a plural ("answers") always means several responses
LIST_ROWS = 5_000
PERCENT_ROWS = 1_000
PERCENT = r"^\s*\d+(?:[.,]\d+)?\s*%\s*$"


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
    for column in frame.select(names).head(JSON_ROWS).collect().iter_columns():
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


def is_long(frame: pl.LazyFrame, lists: Sequence[str]) -> bool:
    """Whether list columns contain one answer per row, and not one response per entry.

    Their names are in the singular, and the rows are responses: each row has one label, the gold answer is also a
    list, or the lists contain objects and a question has several rows.
    """
    if any(key(name) not in SINGULAR for name in lists):
        return False
    schema = frame.collect_schema()
    if any(is_label(schema[name]) for name in columns_named(schema, LABELS | {"correct"})):
        return True
    if any(_is_list(frame, name) for name in columns_named(schema, GOLDS | {"gold"}) if name not in lists):
        return True
    questions = ["question"] if "question" in schema else columns_named(schema, QUESTION_IDS)
    if len(questions) != 1 or schema[questions[0]].is_nested() or not all(_has_objects(frame, name) for name in lists):
        return False
    ids = frame.select(questions).head(LIST_ROWS).collect().to_series().drop_nulls()
    return ids.n_unique() < len(ids)


def _has_objects(frame: pl.LazyFrame, name: str) -> bool:
    """Whether all entries of a list column are objects."""
    kind = frame.collect_schema()[name]
    if kind != pl.String:
        return isinstance(kind, pl.List) and isinstance(kind.inner, pl.Struct)
    values = json_lists(frame, [name]).get(name, [])
    return any(values) and all(isinstance(entry, dict) for value in values for entry in value)


def _is_list(frame: pl.LazyFrame, name: str) -> bool:
    """Whether a gold answer is itself a list: of objects, or as JSON text. A list of texts lists accepted answers."""
    values = frame.select(name).head(LIST_ROWS).collect().to_series().drop_nulls()
    if isinstance(values.dtype, pl.List):
        return values.dtype.inner != pl.String
    return values.dtype == pl.String and len(values) > 0 and bool(values.str.contains(r"^\s*\[.*\]\s*$").all())


def with_list_answers(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Convert answers that are lists to JSON text. Objects stay: a struct does not show which fields were missing."""
    schema = frame.collect_schema()
    names = [
        name for name in columns_named(schema, ANSWERS) if isinstance(schema[name], pl.List) and _is_plain(schema[name])
    ]
    return frame.with_columns(pl.col(name).map_elements(_text, return_dtype=pl.String) for name in names)


def _is_plain(kind: Any) -> bool:
    """Whether lists contain texts or numbers, or lists of these."""
    while isinstance(kind, pl.List):
        kind = kind.inner
    return not kind.is_nested()


def _text(value: Any) -> str:
    return json.dumps(value.to_list() if isinstance(value, pl.Series) else value)


def in_percent(frame: pl.LazyFrame) -> list[str]:
    """Return the columns with the name of a score whose first rows contain only percentages."""
    schema = frame.collect_schema()
    scores = (name for name, kind in schema.items() if kind == pl.String and SCORE_LIKE.search(key(name)))
    texts = [name for name in scores if name not in KNOWN]
    if not texts:
        return []
    first = frame.select(texts).head(PERCENT_ROWS).collect()
    return [column.name for column in first if column.str.contains(PERCENT).all() and len(column.drop_nulls())]


def with_shares(frame: pl.LazyFrame, names: list[str]) -> pl.LazyFrame:
    """Convert percentages to numbers in [0, 1]; anything else in these columns is an error when the table is read."""
    numbers = (pl.col(name).str.strip_chars(" %\t").str.replace(",", ".", literal=True) for name in names)
    return frame.with_columns(number.cast(pl.Float64) / 100 for number in numbers)
