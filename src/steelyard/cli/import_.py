"""steelyard import: files of any layout become one long table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli.engine_options import EngineName, Workers, no_overwrite
from steelyard.cli.progress_display import progress_bar
from steelyard.foundation.errors import SettingError
from steelyard.foundation.store_address import place_of

EXAMPLE = "Example: steelyard import samples_gsm8k_*.jsonl -o table.parquet"


def run(
    files: opt.Files,
    output: Annotated[Path, opt.output_option("the table (.parquet, .jsonl, .csv, .arrow); with --engine, a folder")],
    layout: opt.LayoutName = None,
    rename: opt.Rename = None,
    engine: EngineName = None,
    workers: Workers = None,
    parts: Annotated[int | None, opt.parts_option("with --engine only")] = None,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Convert files of any layout to one table with one row per response."""
    from steelyard.tables.response_rows import import_table
    from steelyard.tables.writing import check_output, put

    if engine is not None:
        no_overwrite(overwrite)
        _over_parts(files, output, engine, parts, json, layout=layout, rename=opt.renames(rename), workers=workers)
        return
    if parts is not None or workers is not None:
        raise SettingError("--parts and --workers need an engine: add --engine, or use 'steelyard partition'")
    check_output(output, inputs=files, overwrite=overwrite)
    table = import_table(opt.source_of(files), layout=layout, rename=opt.renames(rename))
    put(table, output)
    _tell(output, json, table.height, table["question"].n_unique(), table.columns)


def _over_parts(files: list[Path], output: Path, engine: str, parts: int | None, json: bool, **options: Any) -> None:
    """Let an engine read the files, one per worker, into a folder of parts."""
    from steelyard.engine.engines import engine_of
    from steelyard.engine.import_table import import_parts

    if parts is None:
        raise SettingError("--engine writes a folder of parts: set how many with --parts, such as --parts 64")
    with progress_bar(f"Reading {opt.title_of(files)}") as progress:
        imported = import_parts(files, place_of(output), parts, engine_of(engine), progress=progress, **options)
    _tell(output, json, sum(imported.rows), imported.made["questions"], list(imported.columns))


def _tell(output: Path, json: bool, responses: int, questions: int, columns: list[str]) -> None:
    if json:
        console.as_json({"responses": responses, "questions": questions, "columns": columns})
        return
    console.say(f"{responses:,} responses to {questions:,} questions written to {place_of(output)}")
    console.say(f"Columns: {', '.join(columns)}")
