"""steelyard import: files of any layout become one long table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from steelyard.cli import show
from steelyard.cli.options import Files, Json, LayoutName, Overwrite, Rename, output_option, renames, source_of

EXAMPLE = "Example: steelyard import samples_gsm8k_*.jsonl -o table.parquet"


def run(
    files: Files,
    output: Annotated[Path, output_option("the table (.parquet, .jsonl, .csv, .arrow)")],
    layout: LayoutName = None,
    rename: Rename = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Convert files of any layout to one table with one row per response, and do nothing else."""
    from steelyard.tables.importing import import_table
    from steelyard.tables.writing import check_output, put

    check_output(output, inputs=files, overwrite=overwrite)
    table = import_table(source_of(files), layout=layout, rename=renames(rename))
    put(table, output)
    sizes = {"responses": table.height, "questions": table["question"].n_unique(), "columns": table.columns}
    if json:
        show.as_json(sizes)
        return
    show.say(f"{sizes['responses']:,} responses to {sizes['questions']:,} questions written to {output}")
    show.say(f"Columns: {', '.join(table.columns)}")
