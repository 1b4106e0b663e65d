"""A run folder as a table: the one that is derived from its journal."""

from __future__ import annotations

from pathlib import Path

from steelyard.errors import TableError
from steelyard.runs.derived_table import readable_table


def table_of_run(folder: Path) -> Path:
    """The table of a run folder, made anew if its journal has grown."""
    if not (folder / "manifest.json").is_file():
        there = folder / "table.parquet"
        name = f"{there}, which can still be read" if there.exists() else "a file (.parquet, .jsonl or .csv)"
        raise TableError(f"{folder} is a folder and no run: name {name}")
    return readable_table(folder)
