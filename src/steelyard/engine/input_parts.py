"""The input of a job, part by part: a folder of tables, or a run in parts, whose parts are cut by question as well."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.scheduler import Failed
from steelyard.engine.worker_messages import AGAIN, failure_summary
from steelyard.foundation.errors import RunError
from steelyard.foundation.store_address import Place, place_of
from steelyard.runs.derived_table import fresh_table
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.parted_table import (
    CurrentTable,
    check_not_less,
    checked_parts,
    columns_of_all,
    current_table,
    digest_of,
    rows_of_part,
)
from steelyard.runs.parts import is_parted_run, part_tables, unchanged
from steelyard.runs.scored_columns import is_scored_column
from steelyard.tables.on_demand_scores import partly_scored

Columns = Mapping[str, pl.DataType]


@dataclass(frozen=True)
class InputPart:
    """One part: the path and SHA-256 of a table; or the folder of a run, a digest of its rows, and the columns of all.

    A part of a run that is not finished, or has no questions, is not there: its path is empty.
    """

    name: str
    path: str
    rows: int
    sha256: str
    columns: Columns | None = None

    @contextmanager
    def opened(self) -> Iterator[Path | pl.LazyFrame]:
        """Yield the rows for a worker; refuse rows that have changed since the driver read them."""
        if self.columns is not None:
            folder = Path(self.path)
            yield rows_of_part(folder, self.sha256, self.columns) if self.path else pl.LazyFrame([], self.columns)
            return
        place = place_of(self.path)
        with unchanged(place, self.sha256) as file:
            yield file if isinstance(place, Path) else pl.scan_parquet(file, glob=False)


class InputParts(NamedTuple):
    """The parts of a folder, their columns, and a digest of their content."""

    source: Place
    parts: list[InputPart]
    columns: tuple[str, ...]
    digest: str


def input_parts_of(source: Place, engine: Engine, workers: int | None = None) -> InputParts:
    """Return the parts of a folder; outdated tables of a run are derived by the engine first."""
    if isinstance(source, Path) and is_parted_run(source):
        return _input_parts_of_run(PartedRun.read(source), engine, workers)
    folder, paths = part_tables(source)
    digest_of_all = hashlib.sha256(folder.text.encode()).hexdigest()  # of what was read, whatever is there by now
    sizes = zip(paths, folder.rows, folder.sha256, strict=True)
    parts = [InputPart(path.stem, str(path.absolute()), rows, digest) for path, rows, digest in sizes]
    return InputParts(source, parts, tuple(folder.columns), digest_of_all)


def _input_parts_of_run(run: PartedRun, engine: Engine, workers: int | None) -> InputParts:
    folders = {part.name: run.folder.resolve() / part.name for part in checked_parts(run)}
    tables = _tables([part for part in run.parts if part.name in folders], folders, engine, workers)
    check_not_less(run.folder, [table.seal for table in tables.values()])
    if not sum(table.seal["rows"] for table in tables.values()):
        raise RunError(f"{run.folder} has no finished part yet: go on with the command that makes this run")
    columns = columns_of_all([table.schema for table in tables.values()])
    parts = [
        InputPart(name, str(folders[name]), tables[name].seal["rows"], digest_of(folders[name]), columns)
        if (name := part.name) in folders
        else InputPart(name, "", 0, "", columns)
        for part in run.parts
    ]
    content = repr([(part.sha256, read.sha256) for part, read in zip(run.parts, parts, strict=True)])
    return InputParts(run.folder, parts, tuple(columns), hashlib.sha256(f"{content} {columns}".encode()).hexdigest())


def _tables(
    parts: Sequence[RunPart], folders: Mapping[str, Path], engine: Engine, workers: int | None
) -> dict[str, CurrentTable]:
    """The tables of parts by name; outdated or damaged ones are derived by the engine."""
    stored = {part.name: current_table(folders[part.name]) for part in parts}
    outdated = [part for part in parts if stored[part.name] is None]
    results = list(engine.run(make_table, folders, outdated, workers=workers)) if outdated else []
    failed = [result for result in results if isinstance(result, Failed)]
    if failed:
        raise RunError(failure_summary(failed, len(parts), fix=AGAIN))
    current = {name: table or current_table(folders[name]) for name, table in stored.items()}
    if busy := [name for name, table in current.items() if table is None]:
        raise RunError(f"{folders[busy[0]]} is being written to: wait for that, and run the same command again")
    return {name: table for name, table in current.items() if table is not None}


def make_table(folders: Mapping[str, Path], part: RunPart) -> None:
    """Derive the table of a part, in a worker."""
    fresh_table(folders[part.name])


def all_scored(read: InputParts, engine: Engine, workers: int | None = None) -> tuple[str, ...]:
    """The columns of on-demand scoring that are true in every row of all parts.

    One part usually decides, and is read here; the others are read by the engine if necessary.
    """
    complete = [name for name in read.columns if is_scored_column(name)]
    filled = [part for part in read.parts if part.rows]
    for part in filled[:1] if complete else ():
        complete = _without(complete, not_scored(tuple(complete), part))
    if not complete or not filled[1:]:
        return tuple(complete)
    with closing(engine.run(not_scored, tuple(complete), filled[1:], workers=workers)) as results:
        for result in results:
            if isinstance(result, Failed):
                raise RunError(failure_summary([result], len(read.parts), fix=AGAIN))
            complete = _without(complete, result.summary)
            if not complete:
                break
    return tuple(complete)


def not_scored(names: tuple[str, ...], part: InputPart) -> list[str]:
    """Return those of the columns that are false in a row of this part, in a worker."""
    with part.opened() as rows:
        frame = rows_without(rows)
        schema = frame.collect_schema()
        return partly_scored(frame, [name for name in names if schema.get(name) == pl.Boolean])


def rows_without(rows: Path | pl.LazyFrame, columns: Sequence[str] = ()) -> pl.LazyFrame:
    """The rows of a part without some columns."""
    frame = pl.scan_parquet(rows, glob=False) if isinstance(rows, Path) else rows
    return frame.drop(columns)


def _without(names: Sequence[str], removed: Sequence[str]) -> list[str]:
    return [name for name in names if name not in removed]
