"""Answers that are themselves lists, one per row: `[{"name": "f", "arguments": {}}]` is one answer, not several."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from steelyard.tables.chat_texts import json_lists
from steelyard.tables.names import ANSWERS, GOLDS, LABELS, QUESTION_IDS, RESPONSES, columns_named, is_label, key

SINGULAR = ANSWERS | RESPONSES  # a plural ("answers") always means several responses
INSPECTED_ROWS = 5_000


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
    ids = frame.select(questions).head(INSPECTED_ROWS).collect().to_series().drop_nulls()
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
    values = frame.select(name).head(INSPECTED_ROWS).collect().to_series().drop_nulls()
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
