"""Separated values -> a lazy frame, whatever separates them: commas, semicolons, tabs, bars; decimal commas too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.tables.headerless import check_names
from steelyard.tables.names import is_text, key
from steelyard.tables.sources.csv_front import front_of
from steelyard.tables.sources.csv_lines import check_lines
from steelyard.tables.sources.encodings import check_utf8
from steelyard.tables.sources.width import check_width

LOOKED_AT = 1_000  # rows
_DECIMAL_COMMA = r"^\s*-?\d+(,\d+)?\s*$"
_THOUSANDS = r"^\s*-?[1-9]\d{0,2},\d{3}\s*$"
_TWICE = re.compile(r"(.*)_duplicated_\d+")  # what polars calls a column whose name was there before


def open_separated(path: Path) -> pl.LazyFrame:
    """Read a table by the separator that its header has most often; blank lines are no rows."""
    check_utf8(path)
    front = front_of(path)
    check_width(path, front.columns)
    check_lines(path, front)
    options: dict[str, Any] = {"separator": front.separator, "skip_lines": front.skipped, "glob": False}
    names = pl.scan_csv(path, infer_schema=False, **options).collect_schema().names()
    check_once(path, names)
    types = {name: pl.String for name in names if is_text(key(name))}
    table = pl.scan_csv(path, schema_overrides=types, infer_schema_length=None, **options)
    return _with_decimal_points(table.filter(~pl.all_horizontal(pl.all().is_null())))


def check_once(path: Path, names: list[str]) -> None:
    """Refuse a header that names a column twice: nobody can tell which of the two is meant."""
    twice = next((found[1] for name in names if (found := _TWICE.fullmatch(name)) and found[1] in names), None)
    if twice is not None:
        check_names(_TWICE.sub(r"\1", name) for name in names)
        if not twice:
            raise TableError(
                f"{path} has several columns without a name: give each its name; if the line with the names stands "
                "further down, remove those before it"
            )
        raise TableError(f"{path} has two columns {twice!r}: remove one, or give it another name")


def _with_decimal_points(table: pl.LazyFrame) -> pl.LazyFrame:
    """Read 0,5 as a number, in columns whose first rows have nothing else; 1,234 alone may be a thousand and more."""
    texts = [name for name, kind in table.collect_schema().items() if kind == pl.String and not is_text(key(name))]
    if not texts:
        return table
    first = table.select(texts).head(LOOKED_AT).collect()
    decimal = [
        column.name
        for column in first.iter_columns()
        if column.str.contains(_DECIMAL_COMMA).all()
        and (column.str.contains(",", literal=True) & ~column.str.contains(_THOUSANDS)).any()
    ]
    points = (pl.col(name).str.strip_chars().str.replace(",", ".", literal=True) for name in decimal)
    return table.with_columns(column.cast(pl.Float64) for column in points)
