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
from pathlib import Path
from typing import BinaryIO, NamedTuple

from steelyard.foundation.errors import SteelyardError, TableError
from steelyard.foundation.files import reason
from steelyard.tables.sources.zstandard import PIECE, unpacked_zstandard

STDIN = "-"
STDIN_NAME = "standard input"
PACKED = (".gz", ".zst")
LARGEST, LARGEST_RATIO = 1 << 30, 200  # limit on the unpacked bytes of a small file, and on the ratio for a large one
MAGIC = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PK\x03\x04": ".zip",
}
HEAD = 64 << 10  # bytes to inspect to recognise a format


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
    pieces = _gunzipped(path) if path.suffix.lower() == ".gz" else unpacked_zstandard(path, limit)
    try:
        _write(pieces, target, path, limit)
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


def _gunzipped(path: Path) -> Iterator[bytes]:
    with gzip.open(path) as file:
        yield from iter(lambda: file.read(PIECE), b"")


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
