"""Whether a table is short, found out without reading its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from steelyard.foundation.panics import hidden_panics
from steelyard.tables.sources.file_checks import DAMAGE

TEXT = (".jsonl", ".csv")
LONGEST = 1 << 24  # bytes of a text file whose lines are counted
LIST = re.compile(rb":\s*\[")  # a line may hold all responses to a question


def rows_at_most(files: Iterable[object], most: int) -> bool:
    """Whether files have at most so many rows in all, of one response each; False where that cannot be told quickly.

    >>> rows_at_most(["grid:smol-misled/orm_last"], 1000)
    False
    """
    rows = 0
    for file in map(Path, map(str, files)):
        try:
            with hidden_panics():
                found = _rows(file)
        except DAMAGE:
            return False  # it is read again with an error message
        if found is None:
            return False
        rows += found
    return rows <= most


def _rows(file: Path) -> int | None:
    if not file.is_file():
        return None
    kind = file.suffix.lower()
    if kind == ".parquet":
        table = pl.scan_parquet(file, glob=False)
        if any(each.is_nested() for each in table.collect_schema().dtypes()):
            return None
        return int(table.select(pl.len()).collect().item())
    if kind in TEXT and file.stat().st_size <= LONGEST:
        with file.open("rb") as lines:
            return 1 + sum(1 for _ in lines) if not LIST.search(lines.readline()) else None
    return None
