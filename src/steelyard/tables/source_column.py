"""The column that says who answered: its names, found before anything is read, and the code of each row."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import ColumnError, RunError, did_you_mean
from steelyard.runs.derived_table import FILE as TABLE
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.manifest import Manifest
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.parts import is_parted_run
from steelyard.tables.names import LLMS, key
from steelyard.voting.pools.sources import MOST, checked_names

USUAL = "llm"


def source_of_run(table: Any) -> str | None:
    """The column that says who answered, where a table is that of a run of several upstreams; else None."""
    named = table if isinstance(table, list | tuple) else [table]
    return USUAL if any(_has_sources(Path(each)) for each in named if isinstance(each, str | Path)) else None


def _has_sources(path: Path) -> bool:
    """Whether a path is a run with sources, or its table by name; what is wrong with a run is said by its reader."""
    folder = path.parent if path.name == TABLE else path
    with suppress(RunError, OSError, ValueError):
        if is_parted_run(folder):
            return bool(PartedRun.read(folder).manifest.sources)
        return (folder / MANIFEST).is_file() and bool(Manifest.read(folder).sources)
    return False


def llm_column(schema: pl.Schema) -> str | None:
    """The column with the names of the LLMs, None where there is none."""
    texts = {key(name): name for name, kind in schema.items() if kind in (pl.String, pl.Categorical, pl.Enum)}
    return next((texts[known] for known in LLMS if known in texts), None)


def source_names(frame: pl.LazyFrame, schema: pl.Schema, column: str | None) -> tuple[str, ...]:
    """The names of all sources of a table, in their order; none without a column."""
    if column is None:
        return ()
    if column not in schema:
        raise ColumnError(f"there is no column {column!r} to take sources from: {did_you_mean(column, schema.names())}")
    if column in ("question", "answer", "response", "correct", "gold", "sample"):
        raise ColumnError(f"the column {column!r} does not say who answered: choose another, such as {USUAL!r}")
    if schema[column].is_nested() or schema[column] == pl.Object:
        raise ColumnError(f"the column {column!r} holds {schema[column]}, not one name per response")
    found = _distinct(frame, column, MOST + 2)
    if found.null_count():
        raise ColumnError(f"some responses have no source: fill the column {column!r}, or drop those rows")
    return checked_names(found.sort().to_list(), column)


def source_code(column: str, names: tuple[str, ...]) -> pl.Expr:
    """The code of each row's source, as `source`."""
    return pl.col(column).cast(pl.String).cast(pl.Enum(names)).to_physical().cast(pl.Int32).alias("source")


def _distinct(frame: pl.LazyFrame, column: str, most: int) -> pl.Series:
    """Different values of a column as text, at most so many."""
    return frame.select(pl.col(column).cast(pl.String).unique()).head(most).collect(engine="streaming")[column]
