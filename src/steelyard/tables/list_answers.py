"""Answers that are lists themselves, one per row: `[{"name": "f", "arguments": {}}]` is one answer, not several."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from steelyard.tables.chat_texts import json_lists
from steelyard.tables.names import ANSWERS, GOLDS, LABELS, QUESTION_IDS, RESPONSES, is_label, key, named

SINGULAR = ANSWERS | RESPONSES  # a plural ("answers") always holds several responses
LOOKED_AT = 5_000  # rows


def is_long(frame: pl.LazyFrame, lists: Sequence[str]) -> bool:
    """Whether columns of lists have one answer per row, not one response per entry.

    They are named in the singular, and the rows are responses: each row has one label, the correct answer is such a
    list too, or the lists hold objects and a question has several rows.
    """
    if any(key(name) not in SINGULAR for name in lists):
        return False
    schema = frame.collect_schema()
    if any(is_label(schema[name]) for name in named(schema, LABELS | {"correct"})):
        return True
    if any(_is_list(frame, name) for name in named(schema, GOLDS | {"gold"}) if name not in lists):
        return True
    questions = ["question"] if "question" in schema else named(schema, QUESTION_IDS)
    if len(questions) != 1 or schema[questions[0]].is_nested() or not all(_has_objects(frame, name) for name in lists):
        return False
    ids = frame.select(questions).head(LOOKED_AT).collect().to_series().drop_nulls()
    return ids.n_unique() < len(ids)


def _has_objects(frame: pl.LazyFrame, name: str) -> bool:
    """Whether all entries of a column of lists are objects."""
    kind = frame.collect_schema()[name]
    if kind != pl.String:
        return isinstance(kind, pl.List) and isinstance(kind.inner, pl.Struct)
    values = json_lists(frame, [name]).get(name, [])
    return any(values) and all(isinstance(entry, dict) for value in values for entry in value)


def _is_list(frame: pl.LazyFrame, name: str) -> bool:
    """Whether a gold is one list: of objects, or written as JSON. A list of texts holds the accepted answers."""
    values = frame.select(name).head(LOOKED_AT).collect().to_series().drop_nulls()
    if isinstance(values.dtype, pl.List):
        return values.dtype.inner != pl.String
    return values.dtype == pl.String and len(values) > 0 and bool(values.str.contains(r"^\s*\[.*\]\s*$").all())


def with_list_answers(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Write answers that are lists as JSON text. Objects stay: as columns they have lost which fields were missing."""
    schema = frame.collect_schema()
    names = [name for name in named(schema, ANSWERS) if isinstance(schema[name], pl.List) and _is_plain(schema[name])]
    return frame.with_columns(pl.col(name).map_elements(_text, return_dtype=pl.String) for name in names)


def _is_plain(kind: Any) -> bool:
    """Whether lists hold texts or numbers, or lists of these."""
    while isinstance(kind, pl.List):
        kind = kind.inner
    return not kind.is_nested()


def _text(value: Any) -> str:
    return json.dumps(value.to_list() if isinstance(value, pl.Series) else value)
