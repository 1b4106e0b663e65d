"""Files of every kind -> one lazy polars frame, or a line that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from steelyard.errors import TableError
from steelyard.panics import unprinted
from steelyard.tables.sources.damage import DAMAGE, with_fix
from steelyard.tables.sources.frames_of_rows import frame_of_rows
from steelyard.tables.sources.json_files import is_json_list, json_rows, json_value
from steelyard.tables.sources.json_lines import open_json_lines
from steelyard.tables.sources.separated_values import open_separated
from steelyard.tables.sources.unpacking import LARGEST, LARGEST_RATIO, STDIN
from steelyard.tables.sources.width import check_width

SMALL = 64 << 20  # bytes of a file whose texts are added up before they are read


def check_file(path: Path) -> None:
    """Refuse what is no file."""
    if str(path) == STDIN:
        return
    if not path.exists():
        raise TableError(f"no such file: {path}")
    if not path.is_file():
        raise TableError(f"{path} is a device or a pipe: save it as a file first, or give it as - (standard input)")


def open_file(path: Path) -> pl.LazyFrame:
    """Return a lazy frame over one file that is not packed."""
    try:
        opener = FORMATS.get(path.suffix.lower())
        if opener is None:
            raise TableError(f"{path} is none of {', '.join(FORMATS)}: convert it, or give it its suffix")
        if path.stat().st_size == 0:
            raise TableError(f"{path} is empty: it has no rows to read")
        with unprinted():
            frame = opener(path)
            check_width(path, len(frame.collect_schema()))
        return frame
    except (*DAMAGE, ValueError, TypeError) as error:
        raise TableError(f"{str(path)!r:.200} cannot be read as {path.suffix[1:]}: {with_fix(error, path)}") from None


def _open_json(path: Path) -> pl.LazyFrame:
    value = json_value(path)
    if value is None:
        return open_json_lines(path)
    return frame_of_rows(json_rows(path, value)).lazy()


def _open_lines(path: Path) -> pl.LazyFrame:
    return _open_json(path) if is_json_list(path) else open_json_lines(path)


def _open_parquet(path: Path) -> pl.LazyFrame:
    return _bounded(path, pl.scan_parquet(path, glob=False))


def _open_ipc(path: Path) -> pl.LazyFrame:
    return _bounded(path, pl.scan_ipc(path, glob=False))


def _bounded(path: Path, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Refuse a small file of huge texts: a dictionary holds a text once, however many rows have it.

    Adding the lengths up takes no memory. A large file is not looked through.
    """
    size = path.stat().st_size
    texts = [name for name, kind in frame.collect_schema().items() if kind in (pl.String, pl.Categorical)]
    if size > SMALL or not texts:
        return frame
    limit = max(LARGEST, LARGEST_RATIO * size)
    lengths = [pl.col(name).cast(pl.String).str.len_bytes().cast(pl.UInt64).sum() for name in texts]
    total = max(frame.select(lengths).collect(engine="streaming").row(0))
    if total > limit:
        raise TableError(
            f"{path} has {size:,} bytes and a column of more than {limit >> 20:,} MB of text: read a part of it or, if "
            "you trust it, write it as .jsonl"
        )
    return frame


FORMATS: dict[str, Callable[[Path], pl.LazyFrame]] = {
    ".parquet": _open_parquet,
    ".pq": _open_parquet,
    ".jsonl": _open_lines,
    ".ndjson": _open_lines,
    ".json": _open_json,
    ".csv": open_separated,
    ".tsv": open_separated,
    ".arrow": _open_ipc,
    ".feather": _open_ipc,
}
