"""CSV files -> a lazy frame, separated by commas, semicolons, tabs or bars, with decimal points or commas."""

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

INSPECTED_ROWS = 1_000
_DECIMAL_COMMA = r"^\s*-?\d+(,\d+)?\s*$"
_THOUSANDS = r"^\s*-?[1-9]\d{0,2},\d{3}\s*$"
_DUPLICATE = re.compile(r"(.*)_duplicated_\d+")  # polars' name for a column with a duplicate name


def open_separated(path: Path) -> pl.LazyFrame:
    """Read a table with the most frequent separator of its header; blank lines are skipped."""
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
    """Refuse a header with a duplicate column name, because either column could be meant."""
    twice = next((match[1] for name in names if (match := _DUPLICATE.fullmatch(name)) and match[1] in names), None)
    if twice is not None:
        check_names(_DUPLICATE.sub(r"\1", name) for name in names)
        if not twice:
            raise TableError(
                f"{path} has several columns without a name: name each of them; if the header is further "
                "down, remove the lines before it"
            )
        raise TableError(f"{path} has two columns {twice!r}: remove or rename one")


def _with_decimal_points(table: pl.LazyFrame) -> pl.LazyFrame:
    """Read decimal commas (0,5) in columns whose first rows contain only such numbers; 1,234 alone may be thousands."""
    texts = [name for name, kind in table.collect_schema().items() if kind == pl.String and not is_text(key(name))]
    if not texts:
        return table
    first = table.select(texts).head(INSPECTED_ROWS).collect()
    decimal = [
        column.name
        for column in first.iter_columns()
        if column.str.contains(_DECIMAL_COMMA).all()
        and (column.str.contains(",", literal=True) & ~column.str.contains(_THOUSANDS)).any()
    ]
    points = (pl.col(name).str.strip_chars().str.replace(",", ".", literal=True) for name in decimal)
    return table.with_columns(column.cast(pl.Float64) for column in points)
