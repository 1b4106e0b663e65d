"""steelyard partition: a table of any length becomes a folder of parts, by question."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli.progress_display import progress_bar
from steelyard.foundation.store_address import place_of

EXAMPLE = "Example: steelyard partition responses/*.parquet -o parts --parts 64"


def run(
    files: opt.Files,
    output: Annotated[
        Path, opt.output_option("the folder of parts, or an address such as s3://bucket/parts", "FOLDER")
    ],
    parts: Annotated[int, opt.parts_option("1 to 10 million rows per part work well")],
    layout: opt.LayoutName = None,
    rename: opt.Rename = None,
    json: opt.Json = False,
) -> None:
    """Split a table of any size into parts by question, for 'vote --engine'; memory use is constant."""
    from steelyard.tables.partitioning import partition

    with progress_bar(f"Reading {opt.title_of(files)}") as progress:
        made = partition(
            opt.source_of(files), output, parts, layout=layout, rename=opt.renames(rename), progress=progress
        )
    sizes = {"responses": sum(made.rows), "questions": made.made["questions"], "parts": made.parts}
    sizes |= {"largest_part": max(made.rows), "columns": list(made.columns)}
    if json:
        console.as_json(sizes)
        return
    console.say(
        f"{sizes['responses']:,} responses to {sizes['questions']:,} questions written to {place_of(output)}, "
        f"in {made.parts:,} parts of up to {sizes['largest_part']:,} responses"
    )
    console.say(f"Next: steelyard vote {shlex.quote(str(place_of(output)))} --engine ray --plan plan.json -o verdicts")
