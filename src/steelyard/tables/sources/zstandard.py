"""Zstandard files, read with what is installed: Python 3.14, pyarrow, or polars for text.

polars unpacks a whole line at once, so an upper bound on the unpacked size is computed first from the block headers
(RFC 8878): the declared size cannot be trusted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from steelyard.foundation.errors import TableError

TEXT_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
PIECE = 1 << 20  # bytes
LINES = 10_000  # per batch
FRAME, SKIPPED = 0xFD2FB528, range(0x184D2A50, 0x184D2A60)  # the first four bytes of a frame
LARGEST_BLOCK = 128 << 10  # bytes that a compressed block can unpack to
RAW, REPEATED, COMPRESSED = range(3)  # block types


def largest_content(file: BinaryIO) -> int:
    """Return an upper bound on the unpacked size in bytes; raise ValueError if the file is damaged.

    >>> from io import BytesIO
    >>> largest_content(BytesIO(bytes.fromhex("28b52ffd2003190000616263")))
    3
    """
    total = 0
    while head := file.read(4):
        magic = int.from_bytes(head, "little")
        if magic in SKIPPED:
            file.seek(_number(file, 4), 1)
            continue
        if magic != FRAME:
            raise ValueError("it is not a Zstandard frame")
        total += _largest_frame(file)
    return total


def _largest_frame(file: BinaryIO) -> int:
    """Return an upper bound on the unpacked size of a frame, reading from after its magic number to its end."""
    flags = _number(file, 1)
    single = flags >> 5 & 1
    size_bytes = (single, 2, 4, 8)[flags >> 6]
    file.seek((0 if single else 1) + (0, 1, 2, 4)[flags & 3], 1)  # the window, the dictionary
    declared = _number(file, size_bytes) + (256 if size_bytes == 2 else 0)
    total, last = 0, False
    while not last:
        header = _number(file, 3)
        last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        if kind > COMPRESSED:
            raise ValueError("it has a block of an unknown type")
        total += LARGEST_BLOCK if kind == COMPRESSED else size
        file.seek(1 if kind == REPEATED else size, 1)
    file.seek(4 * (flags >> 2 & 1), 1)  # the checksum
    return max(total, declared)


def _number(file: BinaryIO, size: int) -> int:
    content = file.read(size)
    if len(content) < size:
        raise ValueError("it is truncated")
    return int.from_bytes(content, "little")


def unpacked_zstandard(path: Path, limit: int) -> Iterator[bytes]:
    """Yield the content of a .zst file in pieces; a decoder that cannot stream refuses more than `limit` bytes."""
    file: Any
    if sys.version_info >= (3, 14):
        from compression import zstd

        file = zstd.open(path)
    elif find_spec("pyarrow"):
        import pyarrow as pa

        file = pa.input_stream(str(path), compression="zstd")
    elif hasattr(pl, "scan_lines") and path.with_suffix("").suffix.lower() in TEXT_SUFFIXES:
        with path.open("rb") as packed:
            if largest_content(packed) > limit:
                raise TableError(f"{path} may unpack to more than {limit >> 20:,} MB: unpack it with zstd -d first")
        yield from _lines(path)
        return
    else:
        raise TableError(
            f"{path} needs Python 3.14 or pyarrow to be read: pip install pyarrow, or unpack it with zstd -d"
        )
    with file:
        yield from iter(lambda: _read(file), b"")


def _read(file: Any) -> bytes:
    """Read the next piece; Python 3.14 raises its own error for a damaged file."""
    try:
        piece: bytes = file.read(PIECE)
        return piece
    except Exception as error:
        if type(error).__name__ == "ZstdError":
            raise ValueError(str(error)) from None
        raise


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a text file as polars reads them; CR LF becomes LF."""
    for batch in pl.scan_lines(path).collect_batches(chunk_size=LINES, maintain_order=True):
        yield "".join(f"{line}\n" for line in batch.to_series().to_list()).encode()
