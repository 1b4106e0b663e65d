"""Parquet files with a seal: FILE.json stores the SHA-256 of the file and what it was made from.

A flipped bit in Parquet is usually read as another number, and polars neither writes nor checks page checksums; the
seal detects any change. It is written after the file, so a process that dies between the two leaves a file without a
matching seal, which counts as missing.

On an object store the seal also has the tag (ETag) of the content, so that a sealed part is recognized without reading
it again; an object with another tag is read.

A table is never replaced by one made from less. A journal only grows: if it was lost, truncated or had lines deleted,
it contains less than the table, and the table is the better copy. It is left alone until the journal has as many rows,
samples and scores of each verifier again.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.drafts import open_draft, put_bytes
from steelyard.foundation.errors import RunError
from steelyard.foundation.files import UnwritableError, free_bytes, reason
from steelyard.foundation.panics import hidden_panics
from steelyard.foundation.store_address import Address, Place
from steelyard.runs.manifest import sha256_of

DAMAGE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def write_sealed(
    path: Place, write: Callable[[Path], int], made_from: dict[str, Any], *, safe: str = "the journal is safe"
) -> None:
    """Write a file with `write`, which returns its number of rows; read it back; then move it to `path`.

    `safe` tells the user what is not lost if the file cannot be written.
    """
    try:
        with open_draft(path, durable=True, follow=False) as draft:
            rows = write(draft.path)
            read = _count(draft.path)
            if read != rows:
                raise RunError(f"{path} was written with {read:,} rows instead of {rows:,}: run the command again")
            seal = {"rows": rows, "bytes": draft.path.stat().st_size, "sha256": sha256_of(draft.path), **made_from}
        if isinstance(path, Address):
            seal["tag"] = draft.tag
        put_bytes(_seal(path), (json.dumps(seal, indent=2) + "\n").encode())
    except UnwritableError as error:
        raise _write_error(path, error.why, safe) from None
    except DAMAGE as error:
        raise _write_error(path, reason(error), safe) from None


def write_sealed_table(
    path: Place, table: pl.DataFrame, made_from: dict[str, Any], *, safe: str = "the journal is safe", **options: Any
) -> None:
    """Write a table as a sealed file; `options` are those of `write_parquet`."""

    def write(target: Path) -> int:
        table.write_parquet(target, **options)
        return table.height

    write_sealed(path, write, made_from, safe=safe)


def _write_error(path: Place, why: str, safe: str) -> RunError:
    room = free_bytes(path.parent if isinstance(path, Path) else Path(tempfile.gettempdir()))
    return RunError(
        f"cannot write {path}: {why} ({room}); {safe}: make room, or make the folder "
        "writable, and run the command again"
    )


def sealed(path: Place) -> dict[str, Any] | None:
    """Return the seal of an intact file; None if the file is changed or missing."""
    try:
        seal = read_seal(path)
        if isinstance(path, Address):
            return seal if seal and _is_sealed(path, seal) else None
        return seal if seal and path.stat().st_size == seal["bytes"] and sha256_of(path) == seal["sha256"] else None
    except (OSError, KeyError, ValueError):
        return None


def is_made_from(seal: dict[str, Any] | None, inputs: dict[str, Any]) -> bool:
    """Whether a file with this seal was made from these inputs."""
    return seal is not None and all(seal.get(name) == value for name, value in inputs.items())


def _is_sealed(address: Address, seal: dict[str, Any]) -> bool:
    """Whether an object is the sealed one; with another tag it may be an identical copy, so it is read."""
    state = address.state()
    if state is None or state.bytes != seal["bytes"]:
        return False
    if state.tag and state.tag == seal.get("tag"):  # a seal copied from a disk has no tag
        return True
    return bool(address.download(Path(os.devnull)) == seal["sha256"])


def read_seal(path: Place) -> dict[str, Any] | None:
    """Return the content of a seal, whatever the state of its file."""
    try:
        seal = json.loads(_seal(path).read_bytes())
        return seal if isinstance(seal, dict) else None
    except (OSError, ValueError, RecursionError):
        return None


def _seal(path: Place) -> Place:
    return path.with_suffix(".json")


def _count(path: Path) -> int:
    """Read the complete file and count its rows."""
    frame = pl.scan_parquet(path, glob=False)
    nulls = [pl.col(name).null_count().alias(f"{name} null") for name in frame.collect_schema()]
    return int(frame.select(pl.len().alias("rows"), *nulls).collect(engine="streaming")["rows"][0])


def table_counts(table: Path) -> dict[str, int]:
    """Return how many rows, samples and scores a table has, from its seal or else from the file itself."""
    seal = read_seal(table) or {}
    counts = _counts(seal.get("holds")) | _counts({"rows": seal.get("rows")})
    return counts or _counted(table)


def bytes_read(table: Path) -> int:
    """Return how many bytes of journal a table was made from, 0 if unknown."""
    return _counts((read_seal(table) or {}).get("journal")).get("bytes", 0)


def shortfall(table: Path, holds: dict[str, int]) -> str:
    """Describe what a journal lacks compared with the table; empty if nothing is missing."""
    counts = table_counts(table).items()
    return ", ".join(f"{holds.get(name, 0):,} of {n:,} {name}" for name, n in counts if holds.get(name, 0) < n)


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
