"""What is written down about a file that was read alone, and whether the files mean together what each meant alone."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.foundation.files import write_atomically
from steelyard.tables.several_files import check_alike

ABOUT, SCHEMA = "about.json", "schema.arrow"
READ_AS = re.compile(r"'[^']*' read as '[^']*'")
TOGETHER = "import these without --engine, and cut the table with 'steelyard partition'"


def write_about(folder: Path, schema: pl.Schema, rows: int, layout: str, told: str) -> None:
    """Write down how the file was read whose rows are in a folder."""
    pl.DataFrame(schema=schema).write_ipc(folder / SCHEMA)
    about = {"rows": rows, "layout": layout, "read_as": sorted(READ_AS.findall(told))}
    write_atomically(folder / ABOUT, json.dumps(about).encode())


def schema_of(folder: Path) -> pl.Schema:
    """The columns of the file whose rows are in a folder."""
    return pl.Schema(pl.read_ipc_schema(folder / SCHEMA))


def checked_rows(folders: Sequence[Path], paths: Sequence[Path]) -> int:
    """Refuse files that were not read alike: together they would have meant something else. Return all their rows."""
    abouts = [json.loads((folder / ABOUT).read_text()) for folder in folders]
    rows = sum(about.pop("rows") for about in abouts)
    for path, about in zip(paths, abouts, strict=True):
        if about != abouts[0]:
            raise TableError(f"{path} is not read as {paths[0]} is ({about} and {abouts[0]}): {TOGETHER}")
    schemas = [schema_of(folder) for folder in folders]
    check_alike(schemas, paths)
    _check_ids([schema["question"] for schema in schemas], paths)
    return int(rows)


def _check_ids(kinds: Sequence[pl.DataType], paths: Sequence[Path]) -> None:
    """Refuse ids whose text changes where the files come together: 1 and 1.0 are in different parts, and then equal."""
    for kind, path in zip(kinds, paths, strict=True):
        if kind != kinds[0] and not all(each.is_integer() or each == pl.String for each in (kind, kinds[0])):
            raise TableError(f"'question' holds {kinds[0]} in {paths[0]} and {kind} in {path}: {TOGETHER}")
