"""What an engine reads part by part: a folder of tables, or a run in parts, whose parts are cut by question as well."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.failures import AGAIN, failure_summary
from steelyard.engine.scheduler import Failed
from steelyard.foundation.errors import RunError
from steelyard.foundation.store_address import Place, place_of
from steelyard.runs.derived_table import fresh_table
from steelyard.runs.finished_parts import (
    CurrentTable,
    check_not_less,
    checked_parts,
    columns_of_all,
    current_table,
    digest_of,
    rows_of_part,
)
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.parts import is_parted_run, part_tables, unchanged

Columns = Mapping[str, pl.DataType]


@dataclass(frozen=True)
class PartRead:
    """One part: a table by its path and SHA-256; or a run by its folder, what tells its rows, and the columns of all.

    A part of a run that is not finished, or has no questions, is not there: its path is empty.
    """

    name: str
    path: str
    rows: int
    sha256: str
    columns: Columns | None = None

    @contextmanager
    def opened(self) -> Iterator[Path | pl.LazyFrame]:
        """Yield what a worker reads; refuse what is not what the driver saw."""
        if self.columns is not None:
            there = Path(self.path)
            yield rows_of_part(there, self.sha256, self.columns) if self.path else pl.LazyFrame([], self.columns)
            return
        place = place_of(self.path)
        with unchanged(place, self.sha256) as file:
            yield file if isinstance(place, Path) else pl.scan_parquet(file, glob=False)


class PartsRead(NamedTuple):
    """The parts of a folder, the columns that they have, and a digest of all that is in them."""

    source: Place
    parts: list[PartRead]
    columns: tuple[str, ...]
    digest: str


def parts_read(source: Place, engine: Engine, workers: int | None = None) -> PartsRead:
    """Look at the parts of a folder; tables of a run that are older than their journals are made by the engine."""
    if isinstance(source, Path) and is_parted_run(source):
        return _parts_of_run(PartedRun.read(source), engine, workers)
    found, paths = part_tables(source)
    digest_of_all = hashlib.sha256(found.text.encode()).hexdigest()  # of what was read, whatever is there by now
    sizes = zip(paths, found.rows, found.sha256, strict=True)
    parts = [PartRead(path.stem, str(path.absolute()), rows, digest) for path, rows, digest in sizes]
    return PartsRead(source, parts, tuple(found.columns), digest_of_all)


def _parts_of_run(run: PartedRun, engine: Engine, workers: int | None) -> PartsRead:
    there = {part.name: run.folder.resolve() / part.name for part in checked_parts(run)}
    tables = _tables([part for part in run.parts if part.name in there], there, engine, workers)
    check_not_less(run.folder, [table.seal for table in tables.values()])
    if not sum(table.seal["rows"] for table in tables.values()):
        raise RunError(f"{run.folder} has no finished part yet: go on with the command that makes this run")
    columns = columns_of_all([table.schema for table in tables.values()])
    parts = [
        PartRead(name, str(there[name]), tables[name].seal["rows"], digest_of(there[name]), columns)
        if (name := part.name) in there
        else PartRead(name, "", 0, "", columns)
        for part in run.parts
    ]
    told = repr([(part.sha256, read.sha256) for part, read in zip(run.parts, parts, strict=True)])
    return PartsRead(run.folder, parts, tuple(columns), hashlib.sha256(f"{told} {columns}".encode()).hexdigest())


def _tables(
    parts: Sequence[RunPart], there: Mapping[str, Path], engine: Engine, workers: int | None
) -> dict[str, CurrentTable]:
    """The tables of parts by name; those that are older than their journals, or damaged, are derived by the engine."""
    found = {part.name: current_table(there[part.name]) for part in parts}
    old = [part for part in parts if found[part.name] is None]
    ended = list(engine.run(make_table, there, old, workers=workers)) if old else []
    failed = [each for each in ended if isinstance(each, Failed)]
    if failed:
        raise RunError(failure_summary(failed, len(parts), fix=AGAIN))
    current = {name: table or current_table(there[name]) for name, table in found.items()}
    if busy := [name for name, table in current.items() if table is None]:
        raise RunError(f"{there[busy[0]]} is being written to: wait for that, and run the same command again")
    return {name: table for name, table in current.items() if table is not None}


def make_table(there: Mapping[str, Path], part: RunPart) -> None:
    """Derive the table of a part; what a worker does."""
    fresh_table(there[part.name])
