"""What a table was made from, held against what the journal holds now: nothing is replaced by something made from less.

A journal only grows. One that is lost, cut, or had lines taken out holds less than the table beside it, and then the
table is the better copy: it stays as it is until the journal has as many rows, samples and scores of each verifier.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import RunError
from steelyard.foundation.panics import unprinted
from steelyard.runs.seal import DAMAGE, read_seal


def held(table: Path) -> dict[str, int]:
    """Return how many rows, samples and scores a table has: by its seal, else as counted in the file itself."""
    seal = read_seal(table) or {}
    counts = _counts(seal.get("holds")) | _counts({"rows": seal.get("rows")})
    return counts or _counted(table)


def bytes_read(table: Path) -> int:
    """Return how many bytes of journal a table was made from, 0 where nobody knows."""
    journal = (read_seal(table) or {}).get("journal")
    return _counts(journal).get("bytes", 0)


def lost(table: Path, holds: dict[str, int]) -> str:
    """Say how much less a journal holds than the table was made from; empty if it does not."""
    had = held(table)
    return ", ".join(f"{holds.get(what, 0):,} of {n:,} {what}" for what, n in had.items() if holds.get(what, 0) < n)


def check_nothing_lost(table: Path, journal: Path, holds: dict[str, int]) -> None:
    """Refuse to replace a table by one made from less."""
    if less := lost(table, holds):
        size, read = journal.stat().st_size if journal.exists() else 0, bytes_read(table)
        less += f"; {size:,} of {read:,} bytes" if size < read else ""
        raise RunError(
            f"{journal} holds less than {table.name} was made from ({less}): "
            f"the table is left as it is; name {table} instead of the run, or restore the journal, or give the "
            "'steelyard generate' (and 'score') command of this run again to ask for what is missing, or remove "
            f"{table.name} and {table.with_suffix('.json').name} to go on with less"
        )


def _counts(found: Any) -> dict[str, int]:
    """The whole numbers of an object; a damaged seal has anything."""
    items = found.items() if isinstance(found, dict) else ()
    return {name: value for name, value in items if type(value) is int and value >= 0}


def _counted(table: Path) -> dict[str, int]:
    """Count in a table without a seal; one that cannot be read holds nothing worth keeping."""
    try:
        with unprinted():
            frame = pl.scan_parquet(table, glob=False)
            schema = frame.collect_schema()
            counts = {"rows": pl.len()} | ({"samples": pl.col("failure").null_count()} if "failure" in schema else {})
            scores = [name for name, kind in schema.items() if kind == pl.List(pl.Float64)]
            counts |= {f"scores of {name}": pl.col(name).count() for name in scores}
            found = frame.select(**counts).collect().row(0, named=True)
    except DAMAGE:
        return {}
    return _counts(found)
