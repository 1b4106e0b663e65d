"""Tables -> files, by their suffix; each appears whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from steelyard.errors import SettingError
from steelyard.files import replacing

WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".parquet": pl.DataFrame.write_parquet,
    ".jsonl": pl.DataFrame.write_ndjson,
    ".ndjson": pl.DataFrame.write_ndjson,
    ".csv": pl.DataFrame.write_csv,
    ".arrow": pl.DataFrame.write_ipc,
}


def write(table: pl.DataFrame, path: str | Path) -> None:
    """Write a table as Parquet, JSON lines, CSV or Arrow.

    >>> import steelyard as sy
    >>> write(sy.simulate(questions=2, samples=3), "responses.csv")
    >>> len(pl.read_csv("responses.csv"))
    6
    """
    writer = check_output(path)
    with replacing(path) as temporary:
        try:
            writer(table, temporary)
        except pl.exceptions.PolarsError as error:
            raise SettingError(f"cannot write {path}: {error}; choose another path with -o") from None


def check_output(path: str | Path) -> Callable[[pl.DataFrame, Path], object]:
    """Return the writer for a path, or say which suffixes there are."""
    writer = WRITERS.get(Path(path).suffix.lower())
    if writer is None:
        raise SettingError(f"cannot write {path}: its suffix must be one of {', '.join(WRITERS)}")
    return writer
