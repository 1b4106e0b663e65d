"""steelyard plan-budget: when to stop sampling, for a budget or for a loss."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli import show
from steelyard.cli.options import Answers, File, Json, Rename, ScoreName, Seed, SourceName, renames

EXAMPLE = "Example: steelyard plan-budget labelled.parquet --samples 8 --score prm -o plan.json"


def run(
    file: File,
    samples: Annotated[
        float | None, typer.Option(help="Mean samples per question to stay within.", show_default=False)
    ] = None,
    loss: Annotated[
        float | None,
        typer.Option(help="Accuracy to lose at most against all samples: 0.01 is one point.", show_default=False),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(help="A plan fitted on other questions; without one --method is fitted here.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="Without a plan: the method to fit; default: calibrated, with --source committee."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the plan with its stopping rule (JSON).")
    ] = None,
    score: ScoreName = None,
    source: SourceName = None,
    n: Annotated[int | None, typer.Option("--n", help="Use the first N samples per question.")] = None,
    calibrate: Annotated[
        float, typer.Option(help="Share of the questions to fit and choose on; the rest says what it is worth.")
    ] = 0.5,
    answers: Answers = "math",
    rename: Rename = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say when to stop sampling, what that saves and whether it pays, and write the rule into a plan."""
    import steelyard as sy
    from steelyard.files import check_writable

    if samples is None and loss is None:
        raise sy.SettingError("say what to aim for: --samples 8 (mean samples per question) or --loss 0.01 (one point)")
    usual = "calibrated" if source is None else "committee"
    voter = sy.load(plan) if plan else sy.method_class(method or usual)()
    if output:
        check_writable(output)
    fitted = voter.fitted_on_
    trained, column = (fitted.score, source or fitted.source) if fitted else (None, source)
    options: dict[str, Any] = {"rename": renames(rename), "answers": answers, "need_score": voter.scored}
    with show.progress(f"Reading {file}") as progress:
        pool = sy.read(file, score=score or trained, source=column, progress=progress, **options)
    used = pool if n is None else pool.first(n)
    found = sy.plan_budget(used, voter, samples=samples, loss=loss, calibrate=calibrate, refit=not plan, seed=seed)
    if output:
        found.method.save(output)
    if json:
        sizes = {"calibration_questions": found.calibration_questions, "test_questions": found.test_questions}
        rule = {"stopping": found.rule.plain(), "figures": found.figures, "advice": found.advice()}
        show.as_json({"rows": found.frontier.to_dicts(), **rule, **sizes, "seed": seed})
        return
    show.frontier_table(found.frontier, found.calibration_questions, found.test_questions)
    show.say(found.advice())
    show.say(f"Plan written to {output}" if output else "Not saved: add -o plan.json to keep this rule.")
