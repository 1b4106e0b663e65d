"""Compare the journal with what the table was made from: a table is never replaced by one made from less.

A journal only grows. If it was lost, truncated or had lines deleted, it contains less than the table, and the table is
the better copy: it is left alone until the journal has as many rows, samples and scores of each verifier again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import RunError
from steelyard.foundation.panics import hidden_panics
from steelyard.runs.seal import DAMAGE, read_seal


def table_counts(table: Path) -> dict[str, int]:
    """Return how many rows, samples and scores a table has, from its seal or else from the file itself."""
    seal = read_seal(table) or {}
    counts = _counts(seal.get("holds")) | _counts({"rows": seal.get("rows")})
    return counts or _counted(table)


def bytes_read(table: Path) -> int:
    """Return how many bytes of journal a table was made from, 0 if unknown."""
    journal = (read_seal(table) or {}).get("journal")
    return _counts(journal).get("bytes", 0)


def shortfall(table: Path, holds: dict[str, int]) -> str:
    """Describe what a journal lacks compared with the table; empty if nothing is missing."""
    made_from = table_counts(table)
    return ", ".join(
        f"{holds.get(name, 0):,} of {n:,} {name}" for name, n in made_from.items() if holds.get(name, 0) < n
    )


def check_nothing_lost(table: Path, journal: Path, holds: dict[str, int]) -> None:
    """Refuse to replace a table with one made from less."""
    if missing := shortfall(table, holds):
        size, read = journal.stat().st_size if journal.exists() else 0, bytes_read(table)
        missing += f"; {size:,} of {read:,} bytes" if size < read else ""
        raise RunError(
            f"{journal} contains less than {table.name} was made from ({missing}): "
            f"the table is left as it is; use {table} instead of the run, or restore the journal, or run the "
            "'steelyard generate' (and 'score') command of this run again to request what is missing, or remove "
            f"{table.name} and {table.with_suffix('.json').name} to continue with less"
        )


def _counts(content: Any) -> dict[str, int]:
    """The non-negative integers of an object; a damaged seal may contain anything."""
    items = content.items() if isinstance(content, dict) else ()
    return {name: value for name, value in items if type(value) is int and value >= 0}


def _counted(table: Path) -> dict[str, int]:
    """Count a table without a seal; one that cannot be read is not worth keeping."""
    try:
        with hidden_panics():
            frame = pl.scan_parquet(table, glob=False)
            schema = frame.collect_schema()
            counts = {"rows": pl.len()} | ({"samples": pl.col("failure").null_count()} if "failure" in schema else {})
            scores = [name for name, kind in schema.items() if kind == pl.List(pl.Float64)]
            counts |= {f"scores of {name}": pl.col(name).count() for name in scores}
            row = frame.select(**counts).collect().row(0, named=True)
    except DAMAGE:
        return {}
    return _counts(row)
