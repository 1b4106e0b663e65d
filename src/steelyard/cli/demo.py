"""steelyard demo: the whole story in a minute, on simulated responses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import show
from steelyard.cli.options import Seed

EXAMPLE = "Example: steelyard demo -o demo"


def run(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the table, the plan, the verdicts and the report.")
    ] = Path("demo"),
    questions: Annotated[int, typer.Option(help="How many questions.")] = 600,
    samples: Annotated[int, typer.Option(help="How many responses a question.")] = 32,
    seed: Seed = 0,
) -> None:
    """Make responses, calibrate on a few, vote on the rest, and show what it bought."""
    from steelyard.cli import evaluate, fit, report, simulate, vote
    from steelyard.files import make_folder

    folder = make_folder(output)
    files = ("responses.parquet", "plan.json", "verdicts.parquet", "report.html")
    responses, plan, verdicts, page = (folder / name for name in files)
    show.step(f"steelyard simulate --questions {questions} --samples {samples} --seed {seed} -o {responses}")
    simulate.run(output=responses, questions=questions, samples=samples, seed=seed)
    show.step(f"steelyard evaluate {responses} --seed {seed} --resamples 20 --methods {STORY}")
    evaluate.run(file=responses, seed=seed, resamples=20, methods=STORY)
    show.step(f"steelyard fit {responses} --calibrate 0.3 --seed {seed} -o {plan}")
    fit.run(file=responses, calibrate=0.3, seed=seed, output=plan)
    show.step(f"steelyard vote {responses} --plan {plan} -o {verdicts}")
    vote.run(file=responses, plan=plan, output=verdicts)
    show.step(f"steelyard report {responses} --seed {seed} -o {page}")
    report.run(files=[responses], output=page, seed=seed)
    show.say("\nThese responses are simulated: steelyard simulate --help says how. Now a file of your own:")
    show.say("  steelyard evaluate FILE")
    show.say(f"\nAll of it on one page, to look at and to show: {page}")


STORY = "majority,best-of-n,vanilla,linear,logit,kde,pass-at-n"
