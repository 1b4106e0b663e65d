"""steelyard vote: decide every question of a file by a fitted plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import show
from steelyard.cli.options import Answers, File, Json, Rename, ScoreName, SourceName, renames
from steelyard.cli.verdicts_view import show_verdicts

EXAMPLE = "Example: steelyard vote responses.parquet --plan plan.json -o verdicts.parquet"


def run(
    file: File,
    plan: Annotated[Path | None, typer.Option(help="A plan made by 'steelyard fit'; without one: --method.")] = None,
    method: Annotated[
        str | None, typer.Option(help="Without a plan: majority (the default), vanilla, best-of-n, consensus.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the verdicts (.parquet, .jsonl, .csv).")
    ] = None,
    score: ScoreName = None,
    source: SourceName = None,
    n: Annotated[int | None, typer.Option("--n", help="Use the first N samples per question.")] = None,
    risk: Annotated[
        float | None, typer.Option(help="Answer only where the error stays within this, 0.1 say; else null.")
    ] = None,
    confidence_level: Annotated[
        float, typer.Option(help="With --risk: the probability with which the error must stay within it.")
    ] = 0.9,
    sure: Annotated[float | None, typer.Option(hidden=True)] = None,
    answers: Answers = "math",
    rename: Rename = None,
    json: Json = False,
) -> None:
    """Decide every question of a file by a fitted plan, or by a method that needs none; labels are not read."""
    from steelyard.jobs.vote import voted
    from steelyard.tables.writing import check_output, write

    if output:
        check_output(output)
    with show.progress(f"Reading {file}") as progress:
        found = voted(
            file, plan, method=method, risk=risk, confidence_level=confidence_level if sure is None else sure,
            score=score, source=source, n=n, rename=renames(rename), answers=answers, progress=progress,
        )  # fmt: skip
    if output:
        write(found.verdicts, output)
    show_verdicts(found, output, json)
