"""Zstandard files, with whatever is there that can read them: Python 3.14 itself, pyarrow, or polars for text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import TableError

TEXT_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
PIECE = 1 << 20  # bytes
LINES = 10_000  # per batch


def unpacked_zstandard(path: Path) -> Iterator[bytes]:
    """Yield the content of a .zst file piece by piece."""
    file: Any
    if sys.version_info >= (3, 14):
        from compression import zstd

        file = zstd.open(path)
    elif find_spec("pyarrow"):
        import pyarrow as pa

        file = pa.input_stream(str(path), compression="zstd")
    elif hasattr(pl, "scan_lines") and path.with_suffix("").suffix.lower() in TEXT_SUFFIXES:
        yield from _lines(path)
        return
    else:
        raise TableError(
            f"{path} needs Python 3.14 or pyarrow to be read: pip install pyarrow, or unpack it with zstd -d"
        )
    with file:
        yield from iter(lambda: _read(file), b"")


def _read(file: Any) -> bytes:
    """The next piece; Python 3.14 has an error of its own for a damaged file."""
    try:
        piece: bytes = file.read(PIECE)
        return piece
    except Exception as error:
        if type(error).__name__ == "ZstdError":
            raise ValueError(str(error)) from None
        raise


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a text as polars reads them; one that ended with CR LF ends with LF."""
    for batch in pl.scan_lines(path).collect_batches(chunk_size=LINES, maintain_order=True):
        yield "".join(f"{line}\n" for line in batch.to_series().to_list()).encode()
