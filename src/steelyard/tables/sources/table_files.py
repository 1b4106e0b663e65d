"""Files of every format -> one lazy polars frame, or an error of one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.foundation.panics import hidden_panics
from steelyard.tables.sources.csv_files import open_separated
from steelyard.tables.sources.file_checks import DAMAGE, check_width, no_such_file, with_fix
from steelyard.tables.sources.json_files import is_json_list, json_rows, json_value
from steelyard.tables.sources.json_lines import frame_of_rows, open_json_lines
from steelyard.tables.sources.unpacking import LARGEST, LARGEST_RATIO, STDIN

SMALL = 64 << 20  # bytes of a file whose text lengths are summed before it is read


def check_file(path: Path) -> None:
    """Refuse a path that is not a regular file or standard input."""
    if str(path) == STDIN:
        return
    if not path.exists():
        raise TableError(no_such_file(path))
    if not path.is_file():
        raise TableError(f"{path} is a device or a pipe: save it as a file first, or pass - for standard input")


def open_file(path: Path) -> pl.LazyFrame:
    """Return a lazy frame over one uncompressed file."""
    try:
        opener = FORMATS.get(path.suffix.lower())
        if opener is None:
            raise TableError(f"{path} has no known suffix ({', '.join(FORMATS)}): convert it, or rename it")
        if path.stat().st_size == 0:
            raise TableError(f"{path} is empty: it has no rows to read")
        with hidden_panics():
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


def _open_columns(path: Path) -> pl.LazyFrame:
    """Open Parquet or Arrow, but refuse a small file of huge texts: a dictionary stores a repeated text once.

    Summing the lengths takes no memory. Large files are not checked.
    """
    scan = pl.scan_parquet if path.suffix.lower() in (".parquet", ".pq") else pl.scan_ipc
    frame, size = scan(path, glob=False), path.stat().st_size
    kinds = frame.collect_schema().dtypes()
    lengths = [length for i, kind in enumerate(kinds) for length in _lengths(pl.nth(i), kind)]
    if size > SMALL or not lengths:
        return frame
    limit = max(LARGEST, LARGEST_RATIO * size)
    sums = [length.cast(pl.UInt64).sum().alias(str(i)) for i, length in enumerate(lengths)]
    if sum(frame.select(sums).collect(engine="streaming").row(0)) > limit:
        raise TableError(
            f"{path} has {size:,} bytes and more than {limit >> 20:,} MB of text: read a part of it or, if "
            "you trust it, write it as .jsonl"
        )
    return frame


def _lengths(values: pl.Expr, kind: pl.DataType) -> list[pl.Expr]:
    """Return the lengths in bytes of the texts in a column, including those in lists and structs."""
    if isinstance(kind, pl.List | pl.Array):
        return _lengths(values.explode(), cast("pl.DataType", kind.inner))
    if isinstance(kind, pl.Struct):
        numbered = values.struct.rename_fields(list(map(str, range(len(kind.fields)))))  # '*' would be a pattern
        fields = [(str(i), cast("pl.DataType", field.dtype)) for i, field in enumerate(kind.fields)]
        return [length for name, inner in fields for length in _lengths(numbered.struct.field(name), inner)]
    if isinstance(kind, pl.Binary):
        return [values.bin.size()]
    return [values.cast(pl.String).str.len_bytes()] if isinstance(kind, pl.String | pl.Categorical | pl.Enum) else []


FORMATS: dict[str, Callable[[Path], pl.LazyFrame]] = {
    ".parquet": _open_columns, ".pq": _open_columns, ".jsonl": _open_lines, ".ndjson": _open_lines,
    ".json": _open_json, ".csv": open_separated, ".tsv": open_separated, ".arrow": _open_columns,
    ".feather": _open_columns,
}  # fmt: skip
