"""`sy.import_table`: files become one table, in this process, or a folder of parts, by many workers.

Every file is read by one worker, then every part is assembled by one. Between the two, the rows of a file are in
chunks, one file per part (steelyard/engine/import_chunks.py).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.import_chunks import (
    CHUNKS,
    ImportOrder,
    InputFile,
    checked_rows,
    file_state,
    gather_part,
    spread_file,
)
from steelyard.engine.input_parts import InputPart
from steelyard.engine.scheduler import Failed
from steelyard.engine.table_jobs import TablePart, finish, held, parts_to_make
from steelyard.engine.with_engine import all_rows, output_folder, with_engine
from steelyard.engine.worker_messages import SAME, WarningSummary, failure_summary
from steelyard.foundation.errors import RunError, SettingError
from steelyard.foundation.files import UnwritableError
from steelyard.foundation.store_address import Address, Place
from steelyard.runs.parts import Parts, check_parts, part_name
from steelyard.runs.seal import read_seal, sealed
from steelyard.tables.response_rows import import_table as import_table_alone
from steelyard.tables.sources.opening import files_of_all
from steelyard.tables.sources.unpacking import STDIN

AGAIN = "fix these, or leave them out, and import into another folder with -o"


@with_engine(import_table_alone)
def import_table(
    source: Any,
    *,
    engine: Engine,
    output: str | Path | None = None,
    parts: int | None = None,
    workers: int | None = None,
    **options: Any,
) -> pl.DataFrame:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) many workers read files, `workers` at once.

    They write `parts` parts into the folder `output`; the rows are returned in the order of these.
    """
    files = source if isinstance(source, list | tuple) else [source]
    if not all(isinstance(file, str | Path) for file in files):
        raise SettingError("workers read files: write the table to a file (sy.write), or leave out engine=")
    if parts is None:
        raise SettingError("an engine writes a folder of parts: set how many with parts=, such as parts=64")
    target = output_folder(output)
    import_parts(files, target, parts, engine, workers=workers, **options)
    return all_rows(target)


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
        raise SettingError("workers cannot read standard input: save it as a file, or leave out --engine")
    paths = [path.absolute() for path in files_of_all(files)]
    order = ImportOrder(parts, layout, rename or {}, tuple(map(str, paths)))
    states = [file_state(path) for path in paths]
    settings = {"from": [str(path) for path in files], "layout": layout, "rename": order.rename}
    decides = {"settings": settings, "files": list(zip(order.files, states, strict=True))}
    target_parts = parts_to_make("responses", parts, settings, decides)
    with held(target, target_parts):
        chunks = target.absolute() / CHUNKS
        inputs = [InputFile(str(path), i, str(chunks / f"file-{i:05d}"), states[i]) for i, path in enumerate(paths)]
        tables = [
            TablePart(
                InputPart(part_name(i), "", 0, ""),
                str(target.absolute() / f"{part_name(i)}.parquet"),
                target_parts.order,
            )
            for i in range(parts)
        ]
        missing = [table for table in tables if (sealed(Path(table.target)) or {}).get("order") != target_parts.order]
        if missing or chunks.exists():
            unread = [part for part in inputs if not Path(part.target).exists()]
            done, notices = [0, len(unread) + len(missing)], WarningSummary("files")
            _all(engine, spread_file, order, unread, workers, progress, done, notices)
            rows = checked_rows([Path(part.target) for part in inputs], paths)
            _all(engine, gather_part, order, missing, workers, progress, done, WarningSummary())
            _check_rows(tables, rows, chunks)
        made_paths = [Path(table.target) for table in tables]
        questions = sum((read_seal(path) or {})["summary"]["questions"] for path in made_paths)
        result = finish(target, replace(target_parts, made=settings | {"questions": questions}), made_paths)
        _remove(chunks)
    return result


def _check_rows(tables: Sequence[TablePart], rows: int, chunks: Path) -> None:
    """Refuse parts that lack rows: chunks may be truncated if a machine lost power."""
    written = sum((read_seal(Path(table.target)) or {}).get("rows", 0) for table in tables)
    if written != rows:
        for table in tables:
            Path(table.target).unlink(missing_ok=True)
        _remove(chunks)
        raise RunError(f"the parts hold {written:,} of the {rows:,} rows that were read: run the same command again")


def _remove(chunks: Path) -> None:
    """Remove all chunks or none: a partial set would be read as a complete file."""
    if chunks.exists():
        chunks.rename(chunks.with_name(f".{CHUNKS}.{uuid4().hex}"))
    for leftover in chunks.parent.glob(f".{CHUNKS}.*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _all(
    engine: Engine,
    task: Callable[[Any, Any], Any],
    order: ImportOrder,
    parts: Sequence[Any],
    workers: int | None,
    progress: Callable[[float], None] | None,
    done: list[int],
    notices: WarningSummary,
) -> None:
    """Process all parts and give their warnings; failed parts are an error once the others are done."""
    failed = []
    for result in engine.run(task, order, parts, workers=workers) if parts else ():
        done[0] += 1
        if progress:
            progress(done[0] / done[1])
        if isinstance(result, Failed):
            failed.append(result)
        else:
            notices.add(result.part.name, result.summary)
    notices.warn()
    if failed:
        raise RunError(failure_summary(failed, len(parts), notices.unit, AGAIN if notices.unit == "files" else SAME))
