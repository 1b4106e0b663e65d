"""steelyard report: one page that explains a labelled file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import console
from steelyard.cli.completion import complete_table
from steelyard.cli.options import (
    Answers,
    Json,
    Labels,
    LayoutName,
    Overwrite,
    Rename,
    ScoreName,
    Seed,
    SourceName,
    calibrate_option,
    method_option,
    one_name,
    output_option,
    renames,
)
from steelyard.cli.progress_display import progress_bar
from steelyard.cli.sampling_options import PriceResponse

EXAMPLE = "Example: steelyard report labelled.parquet --score prm -o report.html"


def run(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Labelled tables of responses, run folders, or grid:LLM/VERIFIER.",
            show_default=False,
            autocompletion=complete_table,
        ),
    ],
    output: Annotated[Path, output_option("the report (.html)", show_default=True)] = Path("report.html"),
    method: Annotated[
        list[str] | None, method_option("The one to report on. Default: calibrated, or committee with --source.")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            metavar="FILE",
            help="Plan made by 'steelyard fit': the report covers its verdicts and the scores that it requested. "
            "Default for a run scored with --frugal: the plan used for scoring.",
            show_default=False,
        ),
    ] = None,
    price_response: PriceResponse = None,
    score: ScoreName = None,
    source: SourceName = None,
    calibrate: Annotated[float, calibrate_option()] = 0.3,
    answers: Answers = "auto",
    labels: Labels = "majority",
    rename: Rename = None,
    layout: LayoutName = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Write an HTML report on what calibration gains on labelled files; it works offline."""
    from steelyard.evaluation.reports.page import reported
    from steelyard.tables.source_column import source_of_run

    source = source or source_of_run(files)
    with progress_bar("Measuring") as progress:
        made = reported(
            files, output, score=score, source=source, method=one_name(method, "--method"), plan=plan,
            price_response=price_response, calibrate=calibrate, seed=seed, rename=renames(rename), layout=layout,
            answers=answers, labels=labels, overwrite=overwrite, progress=progress,
        )  # fmt: skip
    if json:
        by = {"method": made.method, **({"plan": made.plan} if made.plan else {})}
        console.as_json(
            {"report": str(output), "bytes": made.size, "files": [str(file) for file in files], **by, "seed": seed}
        )
        return
    console.say(f"Report written to {output} ({made.size / 1e6:.1f} MB): open it in a browser")
