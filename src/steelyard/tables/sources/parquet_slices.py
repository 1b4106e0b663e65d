"""One Parquet file in slices, the next of which is read during the work on the last.

A stream of batches, which polars decodes far ahead of the vote, takes several times the memory. But where a file is
one large row group, polars decodes this from its beginning for every slice: longer tables, of more slices, are streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from steelyard.tables.sources.file_checks import partial_read

SUFFIXES = (".parquet", ".pq")
SLICES = 20
ROWS = 2**18, 2**20  # of a slice, at least and at most: the row groups that polars and pyarrow write
MOST = SLICES * ROWS[1]


class ParquetFile(NamedTuple):
    """A local file, and what changes when it is written, replaced or removed."""

    path: Path
    version: tuple[int, ...]

    def check(self) -> None:
        """Raise TableError if the file has changed."""
        try:
            same = _version(self.path) == self.version
        except OSError:
            same = False
        if not same:
            raise partial_read()


def parquet_file(source: Any) -> ParquetFile | None:
    """Return a source that is one local Parquet file, as it is before it is opened; None if it is anything else."""
    if not isinstance(source, str | Path) or Path(source).suffix.lower() not in SUFFIXES:
        return None
    try:
        path = Path(source).resolve()
        return ParquetFile(path, _version(path)) if path.is_file() else None
    except (OSError, RuntimeError, ValueError):  # no path, or a circle of links: opening it says so
        return None


def can_slice(table: pl.LazyFrame, total: int) -> bool:
    """Whether polars reads a slice without the rows before it, or with few: it skips row groups of a Parquet file."""
    if total > MOST:
        return False
    plan = table.slice(1, 1).explain()
    return plan.count("Parquet SCAN") == 1 and "SLICE: Positive" in plan


def slices(table: pl.LazyFrame, file: ParquetFile, total: int) -> Iterator[pl.DataFrame]:
    """Read a table of `total` rows from a file; TableError if that has changed, or its row groups have other rows."""

    def collect(part: pl.LazyFrame) -> pl.DataFrame:
        try:
            return part.collect()
        finally:
            file.check()

    if collect(table.filter(pl.lit(True)).select(pl.len())).item() != total:  # a slice ends where the footer says
        raise partial_read()
    groups = -(-total // SLICES // ROWS[0])
    rows = min(max(groups, 1) * ROWS[0], ROWS[1])

    def read(begin: int) -> pl.DataFrame:
        return collect(table.slice(begin, rows))

    if total <= rows:
        yield read(0)
        return
    with ThreadPoolExecutor(1) as reader:
        following = _begun(reader, partial(read, 0))
        for begin in range(rows, total, rows):
            waiting, following = following, _begun(reader, partial(read, begin))
            yield waiting()
        yield following()


def _begun(reader: ThreadPoolExecutor, read: Callable[[], pl.DataFrame]) -> Callable[[], pl.DataFrame]:
    """Begin to read, and return what waits for the result; at the exit of Python, when no thread starts, it reads."""
    try:
        return reader.submit(read).result
    except RuntimeError:
        return read


def _version(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
