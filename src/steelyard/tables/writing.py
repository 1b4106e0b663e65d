"""Tables -> files, by their suffix; each appears whole or not at all, and only where it may (steelyard/outputs.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl

from steelyard import outputs
from steelyard.errors import SettingError
from steelyard.files import replacing
from steelyard.outputs import Kind
from steelyard.tables.known_outputs import KEY, TableKind, any_table, kind_of


def _write_parquet(table: pl.DataFrame, path: Path) -> None:
    table.write_parquet(path, metadata={KEY: kind_of(table.columns)})


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".parquet": _write_parquet,
    ".jsonl": pl.DataFrame.write_ndjson,
    ".ndjson": pl.DataFrame.write_ndjson,
    ".csv": pl.DataFrame.write_csv,
    ".arrow": pl.DataFrame.write_ipc,
}


def write(table: pl.DataFrame, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a table as Parquet, JSON lines, CSV or Arrow.

    A file that is there already is replaced if Steelyard wrote it: a Parquet file with its mark, another one with
    exactly these columns. With `overwrite` any file is.

    >>> import steelyard as sy
    >>> write(sy.simulate(questions=2, samples=3), "responses.csv")
    >>> len(pl.read_csv("responses.csv"))
    6
    """
    check_output(path, any_table(table.columns), overwrite=overwrite)
    put(table, path)


def put(table: pl.DataFrame, path: str | Path) -> None:
    """Write a table to a path that was checked."""
    with replacing(path) as temporary:
        try:
            WRITERS[Path(path).suffix.lower()](table, temporary)
        except pl.exceptions.PolarsError as error:
            raise SettingError(f"cannot write {path}: {error}; choose another path with -o") from None


def check_output(
    path: str | Path,
    kind: TableKind | Kind | None = None,
    *,
    inputs: Iterable[Any] = (),
    overwrite: bool = False,
) -> None:
    """Refuse a path where a table of this kind may not go; without a kind it is any table."""
    known = any_table() if kind is None else kind.kind() if isinstance(kind, TableKind) else kind
    outputs.check_output(path, known, inputs=inputs, overwrite=overwrite)
