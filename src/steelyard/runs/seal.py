"""Parquet files with a seal: FILE.json stores the SHA-256 of the file and what it was made from.

A flipped bit in Parquet is usually read as another number, and polars neither writes nor checks page checksums; the
seal detects any change. It is written after the file, so a process that dies between the two leaves a file without a
matching seal, which counts as missing.

On an object store the seal also has the tag (ETag) of the content, so that a sealed part is recognized without reading
it again; an object with another tag is read.
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
    lengths = [
        pl.len().alias("rows"),
        *(pl.col(name).null_count().alias(f"{name} null") for name in frame.collect_schema()),
    ]
    return int(frame.select(lengths).collect(engine="streaming")["rows"][0])
