"""The table of a run folder or a feedback folder, derived from its journal."""

from __future__ import annotations

from pathlib import Path

from steelyard.foundation.errors import TableError
from steelyard.runs.derived_table import readable_table
from steelyard.runs.feedback_folder import is_feedback
from steelyard.runs.feedback_table import labelled_table
from steelyard.runs.parted_table import readable_parts
from steelyard.runs.parts import is_parted_run


def has_journal(folder: Path) -> bool:
    """Whether a folder is a run (in parts or not) or a feedback folder."""
    return (folder / "manifest.json").is_file() or is_parted_run(folder) or is_feedback(folder)


def table_of_run(folder: Path) -> Path:
    """Return the table of a run or feedback folder, updated if its journal has grown."""
    if is_feedback(folder):
        return labelled_table(folder)
    if is_parted_run(folder):
        return readable_parts(folder)
    if not (folder / "manifest.json").is_file():
        table = folder / "table.parquet"
        name = f"{table}, which can still be read" if table.exists() else "a file (.parquet, .jsonl or .csv)"
        raise TableError(f"{folder} is a folder but not a run: name {name}")
    return readable_table(folder)
