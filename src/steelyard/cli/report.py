"""steelyard report: one page that explains a labelled file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import show
from steelyard.cli.options import Answers, Rename, ScoreName, Seed, SourceName, renames

EXAMPLE = "Example: steelyard report labelled.parquet --score prm -o report.html"


def run(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Labelled tables of responses, run folders, or grid:LLM/VERIFIER.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write the page.")] = Path("report.html"),
    method: Annotated[
        str | None,
        typer.Option(help="The method the page is about; default: calibrated, with --source committee."),
    ] = None,
    score: ScoreName = None,
    source: SourceName = None,
    calibrate: Annotated[
        float, typer.Option(help="Share of the questions to calibrate on; the rest is the test set.")
    ] = 0.3,
    answers: Answers = "math",
    rename: Rename = None,
    seed: Seed = 0,
) -> None:
    """Write one page that shows what calibration bought on labelled files; it works without a network."""
    from steelyard.reports.page import report

    with show.progress("Measuring") as progress:
        size = report(
            files, output, score=score, source=source, method=method, calibrate=calibrate, seed=seed,
            rename=renames(rename), answers=answers, progress=progress,
        )  # fmt: skip
    show.say(f"Report written to {output} ({size / 1e6:.1f} MB): open it in a browser")
