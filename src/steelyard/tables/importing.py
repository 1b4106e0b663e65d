"""Files of any layout -> one table with a row per response, ready to be written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import ColumnError, TableError
from steelyard.tables.columns import check_columns
from steelyard.tables.reading import name_in_errors
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.damage import reading


def import_table(source: Any, *, layout: str | None = None, rename: dict[str, str] | None = None) -> pl.DataFrame:
    """Return the responses in files of any layout as one table: one row per response, with standard column names.

    >>> rows = [{"prompt": "2+2?", "completions": ["It is 4", "It is 5"], "scores": [0.9, 0.2], "answer": "4"}]
    >>> import_table(rows).columns
    ['question', 'gold', 'prompt', 'response', 'scores']
    """
    if isinstance(source, list) and len(source) == 1 and isinstance(source[0], str | Path):
        source = source[0]
    with name_in_errors(source) as name, reading(name):
        table = open_responses(source, layout, rename).collect()
        check_columns(table.schema)
        if not table.height:
            raise TableError(f"{name} is empty: it has no rows to read")
        empty = table["question"].null_count()
        if empty:
            raise ColumnError(f"{empty:,} rows have no question id: fill 'question'")
    return table
