"""Files -> a folder of parts: every file is read by one worker, then every part is put together by one.

Between the two, the rows of a file lie in chunks, one file per part (steelyard/tables/spreading.py). Only layouts whose
files stand for themselves are read so: one row per response, or one per question that has an id.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.failures import SAME, failure_summary
from steelyard.engine.files_alike import TOGETHER, checked_rows, schema_of, write_about
from steelyard.engine.part_warnings import ToldOnce, caught
from steelyard.engine.parts_folder import finish, held, wanted_parts
from steelyard.engine.parts_job import TablePart, seal_part
from steelyard.engine.parts_read import PartRead
from steelyard.engine.scheduler import Failed
from steelyard.foundation.errors import RunError, SettingError, TableError
from steelyard.foundation.files import UnwritableError, reason
from steelyard.foundation.store_address import Address, Place
from steelyard.runs.parts import Parts, check_parts, part_name
from steelyard.runs.seal import read_seal, sealed
from steelyard.tables.partitioning import spread, table_of_part
from steelyard.tables.responses import open_unchecked
from steelyard.tables.several_files import FILE, check_exact
from steelyard.tables.sources.file_checks import name_in_errors, reading
from steelyard.tables.sources.opening import files_of_all
from steelyard.tables.sources.unpacking import STDIN
from steelyard.tables.spreading import rows_of_part

CHUNKS = "chunks"
AGAIN = "fix these, or leave them out, and import into another folder with -o"
ALONE = ("long", "wide")  # layouts
NUMBERED = "'row number' read as 'question'"


@dataclass(frozen=True)
class InputFile:
    """One file that is read, and the folder where its chunks go."""

    name: str
    number: int
    target: str
    state: tuple[int, int]  # bytes, and when it was changed


@dataclass(frozen=True)
class ImportOrder:
    """What every worker of an import is told."""

    parts: int
    layout: str | None
    rename: dict[str, str]
    files: tuple[str, ...]


def import_parts(
    files: Sequence[str | Path],
    target: Place,
    parts: int,
    engine: Engine,
    *,
    layout: str | None = None,
    rename: dict[str, str] | None = None,
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Parts:
    """Read files of one layout into a folder of parts, as `partition` does, with many workers."""
    check_parts(parts)
    if isinstance(target, Address):
        raise UnwritableError(
            str(target),
            "workers of an import append to files that all of them share, which no object store has",
            f"cut the files in one process with 'steelyard partition FILE... -o {target} --parts {parts}'",
        )
    if STDIN in map(str, files):
        raise SettingError("workers cannot read standard input: save it as a file, or leave --engine away")
    paths = [path.absolute() for path in files_of_all(files)]
    order = ImportOrder(parts, layout, rename or {}, tuple(map(str, paths)))
    states = [_state(path) for path in paths]
    made = {"from": [str(path) for path in files], "layout": layout, "rename": order.rename}
    decides = {"settings": made, "files": list(zip(order.files, states, strict=True))}
    wanted = wanted_parts("responses", parts, made, decides)
    with held(target, wanted):
        chunks = target.absolute() / CHUNKS
        inputs = [InputFile(str(path), i, str(chunks / f"file-{i:05d}"), states[i]) for i, path in enumerate(paths)]
        tables = [
            TablePart(
                PartRead(part_name(i), "", 0, ""), str(target.absolute() / f"{part_name(i)}.parquet"), wanted.order
            )
            for i in range(parts)
        ]
        missing = [table for table in tables if (sealed(Path(table.target)) or {}).get("order") != wanted.order]
        if missing or chunks.exists():
            unread = [each for each in inputs if not Path(each.target).exists()]
            done, told = [0, len(unread) + len(missing)], ToldOnce("files")
            _all(engine, spread_file, order, unread, workers, progress, done, told)
            rows = checked_rows([Path(each.target) for each in inputs], paths)
            _all(engine, gather_part, order, missing, workers, progress, done, ToldOnce())
            _check_rows(tables, rows, chunks)
        made_paths = [Path(table.target) for table in tables]
        questions = sum((read_seal(path) or {})["summary"]["questions"] for path in made_paths)
        found = finish(target, replace(wanted, made=made | {"questions": questions}), made_paths)
        _remove(chunks)
    return found


def _state(path: Path) -> tuple[int, int]:
    """What changes when a file is written again."""
    try:
        found = path.stat()
    except OSError as error:
        raise TableError(f"{path} cannot be read: {reason(error)}; name another file") from None
    return found.st_size, found.st_mtime_ns


def _check_rows(tables: Sequence[TablePart], rows: int, chunks: Path) -> None:
    """Refuse parts that do not hold every row that was read: chunks of a machine that lost power may be cut short."""
    there = sum((read_seal(Path(table.target)) or {}).get("rows", 0) for table in tables)
    if there != rows:
        for table in tables:
            Path(table.target).unlink(missing_ok=True)
        _remove(chunks)
        raise RunError(f"the parts hold {there:,} of the {rows:,} rows that were read: run the same command again")


def _remove(chunks: Path) -> None:
    """Remove all chunks or none: what is left of some would be read as a whole file."""
    if chunks.exists():
        chunks.rename(chunks.with_name(f".{CHUNKS}.{uuid4().hex}"))
    for gone in chunks.parent.glob(f".{CHUNKS}.*"):
        shutil.rmtree(gone, ignore_errors=True)


def _all(
    engine: Engine,
    task: Callable[[Any, Any], Any],
    order: ImportOrder,
    parts: Sequence[Any],
    workers: int | None,
    progress: Callable[[float], None] | None,
    done: list[int],
    told: ToldOnce,
) -> None:
    """Let an engine do all parts, and tell their warnings; those that fail are an error when the others are done."""
    failed = []
    for each in engine.run(task, order, parts, workers=workers) if parts else ():
        done[0] += 1
        if progress:
            progress(done[0] / done[1])
        if isinstance(each, Failed):
            failed.append(each)
        else:
            told.hear(each.part.name, each.summary)
    told.tell()
    if failed:
        raise RunError(failure_summary(failed, len(parts), told.what, AGAIN if told.what == "files" else SAME))


def spread_file(order: ImportOrder, file: InputFile) -> list[str]:
    """Read one file and spread its rows over chunks, whose folder appears when they are all there; return warnings."""
    target = Path(file.target)
    beside = target.with_name(f".{target.name}.{uuid4().hex}")  # a worker that is taken for dead may still be writing
    with caught() as said, name_in_errors(file.name) as name, reading(name):
        found = open_unchecked(Path(file.name), order.layout, order.rename)
        if found.layout is None or found.layout.name not in ALONE:
            title = found.layout.title if found.layout else name
            raise TableError(f"files of this layout ({title}) may belong together: {TOGETHER}")
        if NUMBERED in found.summary and len(order.files) > 1:
            raise TableError(f"its questions have no id, and every file would number its own: {TOGETHER}")
        numbered = found._replace(frame=found.frame.with_columns(pl.lit(file.number, pl.Int32).alias(FILE)))
        schema, rows = spread(numbered, beside, order.parts)
        if _state(Path(file.name)) != file.state:
            shutil.rmtree(beside)
            raise TableError("it was changed while it was read: choose another folder with -o, and import it again")
    write_about(beside, schema, rows, found.layout.name, found.summary)
    if target.exists():
        shutil.rmtree(beside)
    else:
        beside.rename(target)
    return said


def gather_part(order: ImportOrder, part: TablePart) -> list[str]:
    """Put one part together and seal it; return warnings."""
    folders = sorted((Path(part.target).parent / CHUNKS).glob("file-*"))
    number, paths = int(part.name.rpartition("-")[2]), [Path(file) for file in order.files]
    schemas = [schema_of(folder) for folder in folders]
    schema = pl.concat([pl.DataFrame(schema=each) for each in schemas], how="diagonal_relaxed").schema
    if any(each != schemas[0] for each in schemas):
        check_exact([rows_of_part([f], number, each).lazy() for f, each in zip(folders, schemas, strict=True)], paths)
    with caught() as said:
        table = table_of_part(folders, number, schema, paths)
    seal_part(part, table, {"questions": table["question"].n_unique()})
    return said
