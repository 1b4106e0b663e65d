"""The finished parts of a run, whose tables are read one by one or put together; their columns are those of all."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from steelyard.foundation.errors import RunError, SteelyardWarning
from steelyard.runs.derived_table import FIELDS, FILE, columns_told, fresh_table, made_from
from steelyard.runs.losses import lost
from steelyard.runs.manifest import Manifest
from steelyard.runs.on_demand import asked_column, is_asked_column
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.seal import DAMAGE, read_seal

Seal = dict[str, Any]


def checked_parts(run: PartedRun) -> list[RunPart]:
    """The finished parts; warn of the others, and refuse one that is of another run."""
    parts = run.finished()
    if missing := len(run.wanted) - len(parts):
        warnings.warn(
            f"{run.folder}: {missing} of {len(run.wanted)} parts are not finished, and their questions are left out: "
            "give the 'steelyard generate' command of this run again",
            SteelyardWarning,
            stacklevel=3,
        )
    for part in parts:
        run.check(part)
    return parts


def check_not_less(folder: Path, seals: Sequence[Seal]) -> dict[str, int]:
    """Return what the parts hold together; refuse if that is less than the table of all was made from."""
    holds: dict[str, int] = {"rows": 0, "samples": 0}
    for seal in seals:
        for name, count in (seal.get("holds") or {}).items():
            holds[name] = holds.get(name, 0) + count
    if less := lost(folder / FILE, holds):
        raise RunError(
            f"{folder} holds less than {FILE} was made from ({less}): restore its parts, name {folder / FILE} "
            f"instead of the run, or remove {FILE} and table.json to go on with less"
        )
    return holds


class CurrentTable(NamedTuple):
    """The table of a part that is as new as its journal: its seal, and its columns."""

    seal: Seal
    schema: pl.Schema


def current_table(folder: Path) -> CurrentTable | None:
    """The table of a part if it looks whole and current: of its bytes only those are read that name its columns."""
    seal = read_seal(folder / FILE)
    try:
        size = (folder / FILE).stat().st_size
        schema = pl.scan_parquet(folder / FILE, glob=False).collect_schema()
    except DAMAGE:
        return None
    wanted = made_from(folder, Manifest.read(folder)) | {"bytes": size}
    if not seal or any(seal.get(name) != value for name, value in wanted.items()):
        return None
    told = columns_told(schema)
    return CurrentTable(seal, schema) if seal.get("columns", told) == told else None


def digest_of(folder: Path) -> str:
    """Tells what the table of a part is made from: another journal, or another kind of answer, has another."""
    content = json.dumps(made_from(folder, Manifest.read(folder)), sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def rows_of_part(folder: Path, digest: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """The rows of a part with the columns of all; a table that is damaged is derived anew."""
    table = fresh_table(folder)
    if digest_of(folder) != digest:
        raise RunError(f"{folder} was written to since this command began: let nobody score or sample meanwhile")
    return alike(pl.scan_parquet(table, glob=False), schema)


def columns_of_all(schemas: Sequence[Mapping[str, pl.DataType]]) -> pl.Schema:
    """The columns of all parts in the order of the table of a run; a verifier may have read only some of the parts."""
    every = {name: kind for schema in schemas for name, kind in schema.items()}
    scores = sorted(name for name, kind in every.items() if isinstance(kind, pl.List))
    first = ["question", "sample", "prompt", "gold", "domain", "llm", *FIELDS, "failure", "answer", "rule", "correct"]
    first.append("self_logprob")
    asked = sorted(name for name in every if name not in {*first, *scores})
    return pl.Schema({name: every[name] for name in (*first, *scores, *asked) if name in every})


def alike(rows: pl.LazyFrame, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """The rows of a part with the columns of all; where no verifier was asked on demand, it was for what is scored."""
    there = rows.collect_schema()
    scored = {asked_column(name): name for name in there}
    silent = pl.col("response").fill_null("").str.strip_chars() == ""

    def filled(name: str, kind: pl.DataType) -> pl.Expr:
        if name in there:
            return pl.col(name)
        if is_asked_column(name):
            return silent | pl.col(scored[name]).is_not_null() if name in scored else silent
        return pl.lit(None, kind)

    return rows.select(filled(name, kind).alias(name) for name, kind in schema.items())
