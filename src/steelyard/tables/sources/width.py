"""Limits on the columns and lines of a file, and the columns that are always text."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from steelyard.foundation.errors import TableError

MAX_COLUMNS = 5000
LONGEST_LINE = 64 << 20  # bytes of JSON, twice the limit on a server's reply
TEXT = {"question": pl.String, "answer": pl.String, "gold": pl.String, "response": pl.String, "prompt": pl.String}


def check_width(path: Path, columns: int) -> None:
    """Refuse a table that is too wide."""
    if columns > MAX_COLUMNS:
        raise TableError(f"{path} has {columns:,} columns, more than {MAX_COLUMNS:,}: keep only those you need")
