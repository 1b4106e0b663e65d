"""What other libraries raise over a damaged file, and their message in one line."""

from __future__ import annotations

import polars as pl

DAMAGE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def first_line(error: BaseException) -> str:
    """Return the first line of another library's message, short enough to read."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
