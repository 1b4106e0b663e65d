"""steelyard demo: the whole story in a minute or two, on the bundled responses of a real language model."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from json import loads
from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli import console
from steelyard.cli.options import Json, Overwrite, Seed, output_option

EXAMPLE = "Example: steelyard demo -o demo"
PAIR = "grid:smol-misled/prm_hard"
STORY = "majority,best-of-n,vanilla,linear,logit,calibrated,pass-at-n"


def run(
    output: Annotated[
        Path, output_option("the folder for the plan, the verdicts and the report", "FOLDER", show_default=True)
    ] = Path("demo"),
    pair: Annotated[
        str, typer.Option(metavar="FILE", help="Bundled table to use: grid:LLM/VERIFIER; 'steelyard grid' lists them.")
    ] = PAIR,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Calibrate on some of the bundled responses and their scores, and vote on the rest."""
    from steelyard.cli import evaluate, fit, report, vote
    from steelyard.evaluation.reports.page import PAGE
    from steelyard.foundation.charts.chart_style import check_charts, missing_packages
    from steelyard.foundation.files import make_folder
    from steelyard.foundation.outputs import check_output
    from steelyard.tables.writing import VERDICTS
    from steelyard.voting.methods.base.plan import PLAN

    folder = make_folder(output)
    plan, verdicts, page = (folder / name for name in ("plan.json", "verdicts.parquet", "report.html"))
    for path, kind in ((plan, PLAN), (verdicts, VERDICTS.kind()), (page, PAGE)):
        check_output(path, kind, inputs=[pair], overwrite=overwrite)
    file = Path(pair)
    steps: list[tuple[str, Callable[..., None], dict[str, Any]]] = [
        (
            f"steelyard evaluate {pair} --seed {seed} -n 1,4,16,64 --resamples 5 --method {STORY}",
            evaluate.run,
            {"files": [file], "seed": seed, "n": "1,4,16,64", "resamples": 5, "method": [STORY]},
        ),
        (
            f"steelyard fit {pair} --calibrate 0.3 --seed {seed} -o {plan}",
            fit.run,
            {"files": [file], "calibrate": 0.3, "seed": seed, "output": plan, "overwrite": overwrite},
        ),
        (
            f"steelyard vote {pair} --plan {plan} -o {verdicts}",
            vote.run,
            {"files": [file], "plan": plan, "output": verdicts, "overwrite": overwrite},
        ),
        (
            f"steelyard report {pair} --seed {seed} -o {page}",
            report.run,
            {"files": [file], "output": page, "seed": seed, "overwrite": overwrite},
        ),
    ]
    if missing_packages():
        steps.pop()  # the report; what it needs is said at the end
    if json:
        console.as_json(
            {"steps": [{"command": command, "found": _output(verb, arguments)} for command, verb, arguments in steps]}
        )
        check_charts()
        return
    for command, verb, arguments in steps:
        console.step(command)
        verb(**arguments)
    console.say("\nA small language model answered 1,000 word problems 64 times each, and a process")
    console.say("reward model scored every step (docs/grid.md); 'steelyard grid' lists other pairs.")
    console.say("Now try a file of your own:")
    console.say("  steelyard evaluate FILE")
    check_charts()
    console.say(f"\nEverything on one page: {page}")


def _output(verb: Callable[..., None], arguments: dict[str, Any]) -> Any:
    """The JSON object that a verb prints."""
    with redirect_stdout(io.StringIO()) as printed:
        verb(**arguments, json=True)
    return loads(printed.getvalue())
