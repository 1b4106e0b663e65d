"""Bounds on a file that is read: its columns, its lines, and which columns are always text."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from steelyard.foundation.errors import TableError

MOST_COLUMNS = 5000
LONGEST_LINE = 64 << 20  # bytes of JSON, twice the longest reply that is read from a server
TEXT = {"question": pl.String, "answer": pl.String, "gold": pl.String, "response": pl.String, "prompt": pl.String}


def check_width(path: Path, columns: int) -> None:
    """Refuse a table so wide that naming its columns takes longer than reading them."""
    if columns > MOST_COLUMNS:
        raise TableError(f"{path} has {columns:,} columns, more than {MOST_COLUMNS:,}: keep those that are needed")
