"""One Parquet file in slices, the next of which is read during the work on the last.

A stream of batches, which polars decodes far ahead of the vote, takes several times the memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.tables.sources.file_checks import partial_read

SUFFIXES = (".parquet", ".pq")
ROWS = 100_000, 500_000  # of a slice: a twentieth of the table, but within these bounds


def parquet_file(source: Any) -> Path | None:
    """Return the path of a source that is one local Parquet file."""
    if not isinstance(source, str | Path) or Path(source).suffix.lower() not in SUFFIXES:
        return None
    return Path(source) if Path(source).is_file() else None


def can_seek(table: pl.LazyFrame) -> bool:
    """Whether polars reads a slice of a table without the rows before it: it skips row groups of a Parquet file."""
    plan = table.slice(1, 1).explain()
    return plan.count("Parquet SCAN") == 1 and "SLICE: Positive" in plan


def slices(table: pl.LazyFrame, file: Path, total: int) -> Iterator[pl.DataFrame]:
    """Read a table of `total` rows from a file; TableError if that changes meanwhile."""
    version = _version(file)
    rows = min(max(total // 20, ROWS[0]), ROWS[1])

    def read(begin: int) -> pl.DataFrame:
        try:
            return table.slice(begin, rows).collect()
        finally:
            if _version(file) != version:
                raise partial_read()

    waiting: deque[Future[pl.DataFrame]] = deque()
    with ThreadPoolExecutor(1) as reader:
        for begin in range(0, total, rows):
            waiting.append(reader.submit(read, begin))
            if len(waiting) > 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _version(file: Path) -> tuple[int, ...]:
    """Return what changes when a file is written, replaced or removed."""
    try:
        status = file.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns
