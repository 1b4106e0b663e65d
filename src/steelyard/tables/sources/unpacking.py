"""Compressed files and standard input -> plain files in temporary folders, removed when the process ends.

All readers and checks work on plain files, so that there is only one way to read them.
"""

from __future__ import annotations

import atexit
import gzip
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import polars as pl

from steelyard.foundation.errors import SteelyardError, TableError
from steelyard.foundation.files import reason

STDIN = "-"
STDIN_NAME = "standard input"
PACKED = (".gz", ".zst")
LARGEST, LARGEST_RATIO = 1 << 30, 200  # limit on the unpacked bytes of a small file, and on the ratio for a large one
MAGIC = {
    b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"PK\x03\x04": ".zip",
}  # fmt: skip
HEAD = 64 << 10  # bytes to inspect to recognise a format
TEXT_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
PIECE = 1 << 20  # bytes
LINES = 10_000  # per batch
FRAME, SKIPPED = 0xFD2FB528, range(0x184D2A50, 0x184D2A60)  # the first four bytes of a frame
LARGEST_BLOCK = 128 << 10  # bytes that a compressed block can unpack to
RAW, REPEATED, COMPRESSED = range(3)  # block types


class Plain(NamedTuple):
    """A plain file, and the name the user gave for it."""

    path: Path
    name: str


@contextmanager
def original_name_in_errors(file: Plain) -> Iterator[None]:
    """Replace the temporary path in errors with the name the user gave."""
    try:
        yield
    except SteelyardError as error:
        if str(file.path) == file.name or str(file.path) not in str(error):
            raise
        raise type(error)(str(error).replace(str(file.path), file.name)) from None


def plain_suffix(path: Path) -> str:
    """Return the suffix of the format, without that of the compression.

    >>> plain_suffix(Path("a.JSONL.gz")), plain_suffix(Path("b.csv"))
    ('.jsonl', '.csv')
    """
    suffix = path.suffix.lower()
    return path.with_suffix("").suffix.lower() if suffix in PACKED else suffix


def plain_file(path: Path) -> Plain:
    """Return the plain file: the file itself, or an unpacked copy."""
    if str(path) == STDIN:
        return Plain(_spooled_stdin(), STDIN_NAME)
    if path.suffix.lower() not in PACKED:
        return Plain(path, str(path))
    state = path.stat()
    return Plain(_unpacked(path, state.st_size, state.st_mtime_ns), str(path))


@cache
def _unpacked(path: Path, size: int, _modified: int) -> Path:
    """Unpack a file once per process; its size and modification time are part of the cache key."""
    target = _folder() / path.with_suffix("").name
    limit = max(LARGEST, LARGEST_RATIO * size)
    try:
        if path.suffix.lower() == ".gz":
            with gzip.open(path) as file:
                _write(iter(lambda: file.read(PIECE), b""), target, path, limit)
        else:
            _write(unpacked_zstandard(path, limit), target, path, limit)
    except (OSError, EOFError, zlib.error, ValueError, RuntimeError) as error:
        raise TableError(
            f"{path} cannot be unpacked: {reason(error)}; pack it again, or name it without {path.suffix}"
        ) from None
    return target if target.suffix else _with_suffix(target)


def _write(pieces: Iterable[bytes], target: Path, path: Path, limit: int) -> None:
    written = 0
    with target.open("wb") as out:
        for piece in pieces:
            written += len(piece)
            if written > limit:
                raise TableError(f"{path} unpacks to more than {limit >> 20:,} MB: unpack it yourself, if you trust it")
            out.write(piece)


@cache
def _spooled_stdin() -> Path:
    """Return standard input as a file, read once; its format is recognised by its first bytes."""
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None or (hasattr(sys.stdin, "isatty") and sys.stdin.isatty()):
        raise TableError("standard input is a terminal: pipe a table into it, or name a file")
    target = _folder() / "stdin"
    with target.open("wb") as out:
        shutil.copyfileobj(stream, out)
    return plain_file(_with_suffix(target)).path


def _with_suffix(path: Path) -> Path:
    """Add the suffix of the format recognised by the first bytes."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    suffix = next((suffix for magic, suffix in MAGIC.items() if head.startswith(magic)), None) or _text_suffix(head)
    return path.rename(path.with_name(f"{path.name}{suffix}"))


def _text_suffix(head: bytes) -> str:
    """Distinguish JSON, JSON lines and CSV; a first line that is a complete object means JSON lines."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    first = text.split(b"\n", 1)[0].rstrip()
    if text.startswith(b"[") or (text.startswith(b"{") and not first.endswith(b"}")):
        return ".json"
    if text.startswith(b"{"):
        return ".jsonl"
    return ".tsv" if first.count(b"\t") > first.count(b",") else ".csv"


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="steelyard-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def largest_content(file: BinaryIO) -> int:
    """Return an upper bound on the unpacked size of a Zstandard file; raise ValueError if it is damaged.

    It is computed from the block headers (RFC 8878), because the declared size cannot be trusted.

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
    """Yield the content of a .zst file in pieces, with what is installed: Python 3.14, pyarrow, or polars for text.

    polars unpacks a whole line at once, so it is not used for a file that may unpack to more than `limit` bytes.
    """
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
        yield from iter(lambda: _read_piece(file), b"")


def _read_piece(file: Any) -> bytes:
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
