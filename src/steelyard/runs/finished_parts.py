"""The finished parts of a run: their tables are read one by one or merged, with the same columns."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from steelyard.foundation.errors import RunError, SteelyardWarning
from steelyard.runs.derived_table import FIELDS, FILE, column_types, fresh_table, made_from
from steelyard.runs.losses import shortfall
from steelyard.runs.manifest import Manifest
from steelyard.runs.on_demand import asked_column, is_asked_column
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.seal import DAMAGE, read_seal

Seal = dict[str, Any]


def checked_parts(run: PartedRun) -> list[RunPart]:
    """Return the finished parts; warn about the others, and refuse a part of another run."""
    parts = run.finished()
    if missing := len(run.wanted) - len(parts):
        warnings.warn(
            f"{run.folder}: {missing} of {len(run.wanted)} parts are not finished, and their questions are left out: "
            "run the 'steelyard generate' command of this run again",
            SteelyardWarning,
            stacklevel=3,
        )
    for part in parts:
        run.check(part)
    return parts


def check_not_less(folder: Path, seals: Sequence[Seal]) -> dict[str, int]:
    """Return what the parts contain in total; refuse if the merged table was made from more."""
    holds: dict[str, int] = {"rows": 0, "samples": 0}
    for seal in seals:
        for name, count in (seal.get("holds") or {}).items():
            holds[name] = holds.get(name, 0) + count
    if missing := shortfall(folder / FILE, holds):
        raise RunError(
            f"{folder} contains less than {FILE} was made from ({missing}): restore its parts, use {folder / FILE} "
            f"instead of the run, or remove {FILE} and table.json to continue with less"
        )
    return holds


class CurrentTable(NamedTuple):
    """The up-to-date table of a part: its seal and its columns."""

    seal: Seal
    schema: pl.Schema


def current_table(folder: Path) -> CurrentTable | None:
    """Return the table of a part if it looks intact and up to date; only its schema is read."""
    seal = read_seal(folder / FILE)
    try:
        size = (folder / FILE).stat().st_size
        schema = pl.scan_parquet(folder / FILE, glob=False).collect_schema()
    except DAMAGE:
        return None
    expected = made_from(folder, Manifest.read(folder)) | {"bytes": size}
    if not seal or any(seal.get(name) != value for name, value in expected.items()):
        return None
    columns = column_types(schema)
    return CurrentTable(seal, schema) if seal.get("columns", columns) == columns else None


def digest_of(folder: Path) -> str:
    """Return a digest of what the table of a part is made from: its journal and the kind of answer."""
    content = json.dumps(made_from(folder, Manifest.read(folder)), sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def rows_of_part(folder: Path, digest: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """Return the rows of a part with the columns of all parts; a damaged table is derived again."""
    table = fresh_table(folder)
    if digest_of(folder) != digest:
        raise RunError(f"{folder} was written to since this command began: do not score or sample at the same time")
    return conform(pl.scan_parquet(table, glob=False), schema)


def columns_of_all(schemas: Sequence[Mapping[str, pl.DataType]]) -> pl.Schema:
    """Return the columns of all parts, in the order of a run table; a verifier may have scored only some parts."""
    types = {name: kind for schema in schemas for name, kind in schema.items()}
    scores = sorted(name for name, kind in types.items() if isinstance(kind, pl.List))
    first = ["question", "sample", "prompt", "gold", "domain", "llm", *FIELDS, "failure", "answer", "rule", "correct"]
    first.append("self_logprob")
    asked = sorted(name for name in types if name not in {*first, *scores})
    return pl.Schema({name: types[name] for name in (*first, *scores, *asked) if name in types})


def conform(rows: pl.LazyFrame, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """Add the missing columns of other parts; without on-demand scoring, the scored responses count as asked."""
    present = rows.collect_schema()
    scored = {asked_column(name): name for name in present}
    empty = pl.col("response").fill_null("").str.strip_chars() == ""

    def filled(name: str, kind: pl.DataType) -> pl.Expr:
        if name in present:
            return pl.col(name)
        if is_asked_column(name):
            return empty | pl.col(scored[name]).is_not_null() if name in scored else empty
        return pl.lit(None, kind)

    return rows.select(filled(name, kind).alias(name) for name, kind in schema.items())
