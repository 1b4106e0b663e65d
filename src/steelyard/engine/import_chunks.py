"""The work of an import: a worker reads a file into chunks, one per part; then a worker assembles each part.

Files are read one by one, so only layouts whose files do not depend on each other are accepted: one row per response,
or one row per question with an id. Files that would have been read differently together are refused.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import polars as pl

from steelyard.engine.table_jobs import TablePart, seal_part
from steelyard.engine.worker_messages import captured_warnings
from steelyard.foundation.errors import TableError
from steelyard.foundation.files import reason, write_atomically
from steelyard.tables.partitioning import spread, table_of_part
from steelyard.tables.responses import open_unchecked
from steelyard.tables.several_files import FILE, check_alike, check_exact
from steelyard.tables.sources.file_checks import name_in_errors, reading
from steelyard.tables.spreading import rows_of_part

CHUNKS = "chunks"
ALONE = ("long", "wide")  # layouts
NUMBERED = "'row number' read as 'question'"
METADATA, SCHEMA = "about.json", "schema.arrow"
READ_AS = re.compile(r"'[^']*' read as '[^']*'")
TOGETHER = "import these without --engine, and cut the table with 'steelyard partition'"


@dataclass(frozen=True)
class InputFile:
    """One input file, and the folder for its chunks."""

    name: str
    number: int
    target: str
    state: tuple[int, int]  # bytes, and when it was changed


@dataclass(frozen=True)
class ImportOrder:
    """What every worker of an import gets."""

    parts: int
    layout: str | None
    rename: dict[str, str]
    files: tuple[str, ...]


def spread_file(order: ImportOrder, file: InputFile) -> list[str]:
    """Read one file and spread its rows over chunks, whose folder appears when they are all there; return warnings."""
    target = Path(file.target)
    draft = target.with_name(f".{target.name}.{uuid4().hex}")  # a worker that is presumed dead may still be writing
    with captured_warnings() as warnings, name_in_errors(file.name) as name, reading(name):
        opened = open_unchecked(Path(file.name), order.layout, order.rename)
        if opened.layout is None or opened.layout.name not in ALONE:
            title = opened.layout.title if opened.layout else name
            raise TableError(f"files of this layout ({title}) may belong together: {TOGETHER}")
        if NUMBERED in opened.summary and len(order.files) > 1:
            raise TableError(f"its questions have no id, and every file would number its own: {TOGETHER}")
        numbered = opened._replace(frame=opened.frame.with_columns(pl.lit(file.number, pl.Int32).alias(FILE)))
        schema, rows = spread(numbered, draft, order.parts)
        if file_state(Path(file.name)) != file.state:
            shutil.rmtree(draft)
            raise TableError("it was changed while it was read: choose another folder with -o, and import it again")
    write_metadata(draft, schema, rows, opened.layout.name, opened.summary)
    if target.exists():
        shutil.rmtree(draft)
    else:
        draft.rename(target)
    return warnings


def gather_part(order: ImportOrder, part: TablePart) -> list[str]:
    """Put one part together and seal it; return warnings."""
    folders = sorted((Path(part.target).parent / CHUNKS).glob("file-*"))
    number, paths = int(part.name.rpartition("-")[2]), [Path(file) for file in order.files]
    schemas = [schema_of(folder) for folder in folders]
    schema = pl.concat([pl.DataFrame(schema=part_schema) for part_schema in schemas], how="diagonal_relaxed").schema
    if any(part_schema != schemas[0] for part_schema in schemas):
        check_exact(
            [rows_of_part([f], number, part_schema).lazy() for f, part_schema in zip(folders, schemas, strict=True)],
            paths,
        )
    with captured_warnings() as warnings:
        table = table_of_part(folders, number, schema, paths)
    seal_part(part, table, {"questions": table["question"].n_unique()})
    return warnings


def file_state(path: Path) -> tuple[int, int]:
    """Size and modification time, which change when a file is rewritten."""
    try:
        status = path.stat()
    except OSError as error:
        raise TableError(f"{path} cannot be read: {reason(error)}; name another file") from None
    return status.st_size, status.st_mtime_ns


def write_metadata(folder: Path, schema: pl.Schema, rows: int, layout: str, summary: str) -> None:
    """Record how the file was read whose rows are in a folder."""
    pl.DataFrame(schema=schema).write_ipc(folder / SCHEMA)
    metadata = {"rows": rows, "layout": layout, "read_as": sorted(READ_AS.findall(summary))}
    write_atomically(folder / METADATA, json.dumps(metadata).encode())


def schema_of(folder: Path) -> pl.Schema:
    """The columns of the file whose rows are in a folder."""
    return pl.Schema(pl.read_ipc_schema(folder / SCHEMA))


def checked_rows(folders: Sequence[Path], paths: Sequence[Path]) -> int:
    """Refuse files that were not read alike: together they would have meant something else. Return all their rows."""
    all_metadata = [json.loads((folder / METADATA).read_text()) for folder in folders]
    rows = sum(metadata.pop("rows") for metadata in all_metadata)
    for path, metadata in zip(paths, all_metadata, strict=True):
        if metadata != all_metadata[0]:
            raise TableError(f"{path} is not read as {paths[0]} is ({metadata} and {all_metadata[0]}): {TOGETHER}")
    schemas = [schema_of(folder) for folder in folders]
    check_alike(schemas, paths)
    _check_ids([schema["question"] for schema in schemas], paths)
    return int(rows)


def _check_ids(kinds: Sequence[pl.DataType], paths: Sequence[Path]) -> None:
    """Refuse ids whose text changes where the files come together: 1 and 1.0 are in different parts, and then equal."""
    for kind, path in zip(kinds, paths, strict=True):
        if kind != kinds[0] and not all(dtype.is_integer() or dtype == pl.String for dtype in (kind, kinds[0])):
            raise TableError(f"'question' holds {kinds[0]} in {paths[0]} and {kind} in {path}: {TOGETHER}")
