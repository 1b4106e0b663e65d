"""steelyard reproduce: every table and figure of the paper, on a grid of scored tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli.completion import complete_experiment
from steelyard.cli.progress_display import progress_bar

EXAMPLE = "Example: steelyard reproduce all --quick -o reproduction\n\nExample: steelyard reproduce table1 fig-offset"
WIDTH = 22  # of a name
MEASURING = 0.9  # of the work
FOLDER = Path("reproduction")


def run(
    names: Annotated[
        list[str] | None,
        opt.argument(
            "[NAME]...",
            "What to reproduce, or all. Default: list what is available.",
            autocompletion=complete_experiment,
        ),
    ] = None,
    grid: Annotated[
        Path | None,
        opt.option("--grid", "FOLDER", "Folder with a scored table for every LLM or pair. Default: the bundled grid."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Use part of the grid and few repetitions; takes under a minute.")
    ] = False,
    output: Annotated[
        Path, opt.output_option("the folder for tables, figures and the page", "FOLDER", show_default=True)
    ] = FOLDER,
    cached: Annotated[
        bool,
        typer.Option(
            "--cache/--no-cache",
            help="Cache results by content (default); --no-cache turns this off.",
            show_default=False,
        ),
    ] = True,
    seed: opt.Seed = 0,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Reproduce the paper's tables and figures on a grid of scored tables."""
    from steelyard.evaluation.paper.experiment import experiment, experiment_names

    if not names and json:
        console.as_json({"experiments": {name: experiment(name).description for name in experiment_names()}})
        return
    if not names:
        for name in experiment_names():
            console.say(f"{name:<{WIDTH}}{experiment(name).description}")
        console.say("\nTo reproduce some or all: steelyard reproduce all -o FOLDER")
        return
    from steelyard.evaluation.paper.reproduce import reproduce

    with progress_bar("Measuring and drawing") as progress:
        made = reproduce(
            names, grid=grid, quick=quick, output=output, cached=cached, seed=seed, overwrite=overwrite,
            progress=lambda share: progress(MEASURING * share),
            drawing=lambda share: progress(MEASURING + (1 - MEASURING) * share),
        )  # fmt: skip
    if json:
        results = [
            {"name": item.name, "mark": item.mark, "title": item.missing or item.finding.title} for item in made.results
        ]
        console.as_json({"page": str(output / "index.html"), "results": results, "problems": list(made.problems)})
        return
    for problem in made.problems:
        console.say(f"note: {problem}")
    console.say("Does the paper's finding hold on this grid?\n")
    for result in made.results:
        console.say(f"{result.name:<{WIDTH}}{result.mark:<15}{result.missing or result.finding.title}")
    console.say(f"\nEverything, with what the paper reports: {output / 'index.html'}")
