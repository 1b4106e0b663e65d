"""Parquet files of a run with a seal: FILE.json holds the SHA-256 of the file and what it was made from.

A flipped bit in Parquet is read as other numbers more often than not, and polars neither writes nor checks the
checksums of pages; the seal finds any change of any byte. It is written after the file, so a process that dies between
the two leaves a file without a matching seal, which counts as no file.

On an object store the seal has the tag that the store gave to the content as well, so that a part is known to be the
one that was sealed without reading it again; one with another tag is read.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import RunError
from steelyard.foundation.files import UnwritableError, free_bytes, reason
from steelyard.foundation.stores.address import Address, Place
from steelyard.foundation.stores.drafts import drafted, put_bytes
from steelyard.runs.manifest import sha256_of

DAMAGE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def write_sealed(
    path: Place, write: Callable[[Path], int], made_from: dict[str, Any], *, safe: str = "the journal is safe"
) -> None:
    """Let `write` fill a file beside `path` and say its rows; check it as a reader would; then put it in place.

    `safe` says what is not lost where it cannot be written.
    """
    try:
        with drafted(path, durable=True, follow=False) as draft:
            rows = write(draft.path)
            found = _count(draft.path)
            if found != rows:
                raise RunError(f"{path} was written with {found:,} rows instead of {rows:,}: run the command again")
            seal = {"rows": rows, "bytes": draft.path.stat().st_size, "sha256": sha256_of(draft.path), **made_from}
        if isinstance(path, Address):
            seal["tag"] = draft.tag
        put_bytes(_seal(path), (json.dumps(seal, indent=2) + "\n").encode())
    except UnwritableError as error:
        raise _refused(path, error.why, safe) from None
    except DAMAGE as error:
        raise _refused(path, reason(error), safe) from None


def _refused(path: Place, why: str, safe: str) -> RunError:
    room = free_bytes(path.parent if isinstance(path, Path) else Path(tempfile.gettempdir()))
    return RunError(
        f"cannot write {path}: {why} ({room}); {safe}: make room, or make the folder "
        "writable, and run the command again"
    )


def sealed(path: Place) -> dict[str, Any] | None:
    """Return the seal of a file that is whole, byte for byte; None if it is not, or is not there."""
    try:
        seal = read_seal(path)
        if isinstance(path, Address):
            return seal if seal and _is_sealed(path, seal) else None
        return seal if seal and path.stat().st_size == seal["bytes"] and sha256_of(path) == seal["sha256"] else None
    except (OSError, KeyError, ValueError):
        return None


def _is_sealed(address: Address, seal: dict[str, Any]) -> bool:
    """Whether an object is the one that was sealed; one with another tag may have been put or copied there again."""
    there = address.state()
    if there is None or there.bytes != seal["bytes"]:
        return False
    if there.tag and there.tag == seal.get("tag"):  # a seal that was copied from a disk has none
        return True
    return bool(address.download(Path(os.devnull)) == seal["sha256"])


def read_seal(path: Place) -> dict[str, Any] | None:
    """Return what a seal says, whatever became of its file."""
    try:
        seal = json.loads(_seal(path).read_bytes())
        return seal if isinstance(seal, dict) else None
    except (OSError, ValueError, RecursionError):
        return None


def _seal(path: Place) -> Place:
    return path.with_suffix(".json")


def _count(path: Path) -> int:
    """Read the whole file back and count its rows."""
    frame = pl.scan_parquet(path, glob=False)
    lengths = [
        pl.len().alias("rows"),
        *(pl.col(name).null_count().alias(f"{name} null") for name in frame.collect_schema()),
    ]
    return int(frame.select(lengths).collect(engine="streaming")["rows"][0])
