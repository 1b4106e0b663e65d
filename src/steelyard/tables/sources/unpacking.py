"""Compressed files and standard input -> plain files beside nothing of the user's, gone when the process ends.

Plain files are what every reader and every check below takes, so nothing is read in two ways.
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
SPOKEN_STDIN = "standard input"
PACKED = (".gz", ".zst")
LARGEST, LARGEST_RATIO = 1 << 30, 200  # what a small file may unpack to, and how many times its size a large one may
MAGIC = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PK\x03\x04": ".zip",
}
HEAD = 64 << 10  # bytes that are looked at to tell a format


class Plain(NamedTuple):
    """A file as it can be read, and the name by which the user knows it."""

    path: Path
    name: str


@contextmanager
def spoken(file: Plain) -> Iterator[None]:
    """Say the user's name of a file in errors."""
    try:
        yield
    except SteelyardError as error:
        if str(file.path) == file.name or str(file.path) not in str(error):
            raise
        raise type(error)(str(error).replace(str(file.path), file.name)) from None


def plain_suffix(path: Path) -> str:
    """The suffix that tells the format, whatever the file is packed in.

    >>> plain_suffix(Path("a.JSONL.gz")), plain_suffix(Path("b.csv"))
    ('.jsonl', '.csv')
    """
    suffix = path.suffix.lower()
    return path.with_suffix("").suffix.lower() if suffix in PACKED else suffix


def plain_file(path: Path) -> Plain:
    """A file that can be read as it is: itself, or what is packed in it."""
    if str(path) == STDIN:
        return Plain(_spooled_stdin(), SPOKEN_STDIN)
    if path.suffix.lower() not in PACKED:
        return Plain(path, str(path))
    state = path.stat()
    return Plain(_unpacked(path, state.st_size, state.st_mtime_ns), str(path))


@cache
def _unpacked(path: Path, size: int, _changed: int) -> Path:
    """Unpack a file once, however often it is read; `size` and the time of its last change tell it from another."""
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


def _write(pieces: Iterable[bytes], target: Path, path: Path, most: int) -> None:
    written = 0
    with target.open("wb") as out:
        for piece in pieces:
            written += len(piece)
            if written > most:
                raise TableError(f"{path} unpacks to more than {most >> 20:,} MB: unpack it yourself, if you trust it")
            out.write(piece)


def _gunzipped(path: Path) -> Iterator[bytes]:
    with gzip.open(path) as file:
        yield from iter(lambda: file.read(PIECE), b"")


@cache
def _spooled_stdin() -> Path:
    """Standard input as a file, read once; its first bytes tell its format."""
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None or (hasattr(sys.stdin, "isatty") and sys.stdin.isatty()):
        raise TableError("standard input is a terminal: pipe a table into it, or name a file")
    target = _folder() / "stdin"
    with target.open("wb") as out:
        shutil.copyfileobj(stream, out)
    named = _with_suffix(target)
    return plain_file(named).path


def _with_suffix(path: Path) -> Path:
    """Give a file without a suffix the one that its first bytes tell."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    suffix = next((suffix for magic, suffix in MAGIC.items() if head.startswith(magic)), None) or _text_suffix(head)
    return path.rename(path.with_name(f"{path.name}{suffix}"))


def _text_suffix(head: bytes) -> str:
    """Tell JSON, JSON lines and separated values apart; a first line that is a whole object is one of many."""
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
