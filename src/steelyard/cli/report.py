"""steelyard report: one page that explains a labelled file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli.completion import complete_table
from steelyard.cli.progress_display import progress_bar
from steelyard.cli.sampling_options import PriceResponse

EXAMPLE = "Example: steelyard report labelled.parquet --score prm -o report.html"


def run(
    files: Annotated[
        list[Path],
        opt.argument(
            "FILE...", "Labelled tables of responses, run folders, or grid:LLM/VERIFIER.", autocompletion=complete_table
        ),
    ],
    output: Annotated[Path, opt.output_option("the report (.html)", show_default=True)] = Path("report.html"),
    method: Annotated[
        list[str] | None, opt.method_option("The one to report on. Default: calibrated, or committee with --source.")
    ] = None,
    plan: Annotated[
        Path | None,
        opt.option(
            "--plan",
            "FILE",
            "Plan made by 'steelyard fit': the report covers its verdicts and the scores that it requested. "
            "Default for a run scored with --frugal: the plan used for scoring.",
        ),
    ] = None,
    price_response: PriceResponse = None,
    score: opt.ScoreName = None,
    source: opt.SourceName = None,
    calibrate: Annotated[float, opt.calibrate_option()] = 0.3,
    answers: opt.Answers = "auto",
    labels: opt.Labels = "majority",
    rename: opt.Rename = None,
    layout: opt.LayoutName = None,
    seed: opt.Seed = 0,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Write an HTML report on what calibration gains on labelled files; it works offline."""
    from steelyard.evaluation.reports.page import reported
    from steelyard.tables.source_column import source_of_run

    source = source or source_of_run(files)
    with progress_bar("Measuring") as progress:
        made = reported(
            files, output, score=score, source=source, method=opt.one_name(method, "--method"), plan=plan,
            price_response=price_response, calibrate=calibrate, seed=seed, rename=opt.renames(rename), layout=layout,
            answers=answers, labels=labels, overwrite=overwrite, progress=progress,
        )  # fmt: skip
    if json:
        by = {"method": made.method, **({"plan": made.plan} if made.plan else {})}
        console.as_json(
            {"report": str(output), "bytes": made.size, "files": [str(file) for file in files], **by, "seed": seed}
        )
        return
    console.say(f"Report written to {output} ({made.size / 1e6:.1f} MB): open it in a browser")
