"""steelyard vote: decide every question of a file by a fitted plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli import show
from steelyard.cli.options import (
    Answers,
    EngineName,
    Files,
    Json,
    LayoutName,
    Overwrite,
    Plan,
    Rename,
    ScoreName,
    SourceName,
    Workers,
    folder_for,
    method_option,
    n_option,
    one_name,
    output_option,
    renames,
    source_of,
    spoken,
)
from steelyard.cli.verdicts_view import show_verdicts, show_voted_parts
from steelyard.foundation.store_address import place_of

EXAMPLE = "Example: steelyard vote responses.parquet --plan plan.json -o verdicts.parquet"


def run(
    files: Files,
    plan: Plan = None,
    method: Annotated[
        list[str] | None, method_option("Without a plan: majority (the default), vanilla, best-of-n or consensus.")
    ] = None,
    output: Annotated[
        Path | None, output_option("the verdicts (.parquet, .jsonl, .csv); with --engine a folder")
    ] = None,
    score: ScoreName = None,
    source: SourceName = None,
    n: Annotated[int | None, n_option("the first N. Default: all")] = None,
    risk: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Answer only where the error stays within this, 0.1 say; else null.",
            show_default=False,
        ),
    ] = None,
    confidence_level: Annotated[
        float, typer.Option(metavar="P", help="With --risk: the probability with which the error must stay within it.")
    ] = 0.9,
    answers: Answers = "auto",
    rename: Rename = None,
    layout: LayoutName = None,
    engine: EngineName = None,
    workers: Workers = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Decide every question of a file by a fitted plan, or by a method that needs none; labels are not read."""
    from steelyard.tables.vote import vote_with_details
    from steelyard.tables.writing import VERDICTS, check_output, put

    folder = folder_for(files, output, engine, workers, overwrite)
    options: dict[str, Any] = {"method": one_name(method, "--method"), "risk": risk, "score": score, "source": source}
    options |= {"confidence_level": confidence_level, "n": n, "rename": renames(rename), "layout": layout}
    options |= {"answers": answers}
    if folder and output and engine:
        from steelyard.engine.engines import engine_of
        from steelyard.engine.vote_parts import vote_parts

        with show.progress(f"Voting on {folder}") as progress:
            parts = vote_parts(
                folder, place_of(output), engine_of(engine), plan=plan, workers=workers, progress=progress, **options
            )
        show_voted_parts(parts, place_of(output), json)
        return
    if output:
        check_output(output, VERDICTS, inputs=[*files, plan], overwrite=overwrite)
    with show.progress(f"Reading {spoken(files)}") as progress:
        found = vote_with_details(source_of(files), plan, progress=progress, **options)
    if output:
        put(found.verdicts, output)
    show_verdicts(found, place_of(output) if output else None, json)
