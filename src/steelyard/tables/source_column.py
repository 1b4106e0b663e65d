"""The column with the source of each response: its distinct names, and an integer code per row."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import ColumnError, RunError, did_you_mean
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.manifest import TABLE, Manifest
from steelyard.runs.parts import is_parted_run
from steelyard.tables.names import LLMS, key
from steelyard.voting.pools.arrays import MOST_SOURCES, checked_names

USUAL = "llm"


def source_of_run(table: Any) -> str | None:
    """Return the source column if a table is that of a run with several upstreams; else None."""
    manifests = map(manifest_of, folders_of(table))
    return USUAL if any(manifest is not None and manifest.sources for manifest in manifests) else None


def folders_of(table: Any) -> list[Path]:
    """Return the folders that the paths in a source may name: a run, or that of its table."""
    sources = table if isinstance(table, list | tuple) else [table]
    paths = [Path(path) for path in sources if isinstance(path, str | Path)]
    return [path.parent if path.name == TABLE else path for path in paths]


def manifest_of(folder: Path) -> Manifest | None:
    """Return the manifest of a run, in parts or not; None if it cannot be read, which is reported with the run."""
    with suppress(RunError, OSError, ValueError):
        if is_parted_run(folder):
            from steelyard.runs.parted_run import PartedRun

            return PartedRun.read(folder).manifest
        if (folder / MANIFEST).is_file():
            return Manifest.read(folder)
    return None


def llm_column(schema: pl.Schema) -> str | None:
    """Return the column with the names of the LLMs, None if there is none."""
    texts = {key(name): name for name, kind in schema.items() if kind in (pl.String, pl.Categorical, pl.Enum)}
    return next((texts[alias] for alias in LLMS if alias in texts), None)


def source_names(frame: pl.LazyFrame, schema: pl.Schema, column: str | None) -> tuple[str, ...]:
    """Return the sorted names of all sources of a table; empty without a column."""
    if column is None:
        return ()
    if column not in schema:
        raise ColumnError(f"there is no column {column!r} to read sources from: {did_you_mean(column, schema.names())}")
    if column in ("question", "answer", "response", "correct", "gold", "sample"):
        raise ColumnError(f"the column {column!r} does not say who answered: choose another, such as {USUAL!r}")
    if schema[column].is_nested() or schema[column] == pl.Object:
        raise ColumnError(f"the column {column!r} contains {schema[column]}, not one name per response")
    distinct = frame.select(pl.col(column).cast(pl.String).unique()).head(MOST_SOURCES + 2)
    names = distinct.collect(engine="streaming")[column]
    if names.null_count():
        raise ColumnError(f"some responses have no source: fill the column {column!r}, or drop those rows")
    return checked_names(names.sort().to_list(), column)


def source_code(column: str, names: tuple[str, ...]) -> pl.Expr:
    """Return the integer code of each row's source, as `source`."""
    return pl.col(column).cast(pl.String).cast(pl.Enum(names)).to_physical().cast(pl.Int32).alias("source")
