"""One row per question, with its responses, scores and labels in parallel lists."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from steelyard.foundation.errors import ColumnError
from steelyard.tables.cell_values import is_long, json_lists
from steelyard.tables.names import SCORE_LIKE, key
from steelyard.tables.parallel_lists import long_from_lists
from steelyard.tables.recognition import Converted, Layout, Opened
from steelyard.tables.sources.json_lines import is_lossy
from steelyard.tables.wide_roles import ANSWER_LISTS, LABEL_LISTS, RESPONSE_LISTS, check_not_both, text_lists


class WideLists(Layout):
    name = "wide"
    title = "one row per question"
    description = "search-and-learn, RLHFlow, Weaver or any: lists of completions, scores, labels; 'answer' is gold"
    turn = 1

    def recognises(self, opened: Opened) -> bool:
        frame = opened.frame()
        schema = frame.collect_schema()
        lists = text_lists(schema) + _written_as_json(frame, schema, RESPONSE_LISTS | ANSWER_LISTS)
        if not lists or is_long(frame, lists):
            return False
        check_not_both(schema, lists)
        return True

    def read(self, opened: Opened) -> Converted:
        return long_from_lists(_with_lists(opened.frame()))


def _written_as_json(frame: pl.LazyFrame, schema: pl.Schema, aliases: set[str]) -> list[str]:
    """Return the text columns with JSON lists whose name is in `aliases`; lists of numbers are no responses."""
    names = [name for name, kind in schema.items() if kind == pl.String and key(name) in aliases]
    lists = json_lists(frame, names)
    return [name for name in lists if key(name) not in RESPONSE_LISTS or not _are_numbers(lists[name])]


def _are_numbers(lists: list[list[Any]]) -> bool:
    entries = [entry for values in lists for entry in values if entry is not None]
    return bool(entries) and all(isinstance(entry, int | float) for entry in entries)


def _with_lists(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Parse lists that are written as JSON, as in CSV files."""
    schema = frame.collect_schema()
    aliases = RESPONSE_LISTS | ANSWER_LISTS | LABEL_LISTS
    names = [
        name
        for name, kind in schema.items()
        if kind == pl.String and (key(name) in aliases or SCORE_LIKE.search(key(name)))
    ]
    lists = list(json_lists(frame, names))
    if not lists:
        return frame
    table = frame.collect()
    return table.with_columns(_parsed(table[name]) for name in lists).lazy()


def _parsed(texts: pl.Series) -> pl.Series:
    values: list[Any] = []
    for i, text in enumerate(texts):
        try:
            value = None if text is None else json.loads(text)
        except (ValueError, RecursionError):
            value = text
        if value is not None and not isinstance(value, list):
            raise ColumnError(f"row {i + 1} has no JSON list in {texts.name!r}, unlike the rows before: correct it")
        values.append(value)
    mixed = ColumnError(f"the lists in {texts.name!r} contain mixed types: write only texts or only numbers")
    try:
        parsed = pl.Series(texts.name, values, strict=False)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        raise mixed from None
    if is_lossy(values, parsed):
        raise mixed
    return parsed
