"""steelyard plan-budget: when to stop sampling, for a budget or for a loss."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli import show
from steelyard.cli.options import (
    Answers,
    Files,
    Json,
    LayoutName,
    Overwrite,
    Plan,
    Rename,
    ScoreName,
    Seed,
    SourceName,
    calibrate_option,
    method_option,
    n_option,
    one_name,
    output_option,
    renames,
    source_of,
    spoken,
)

EXAMPLE = "Example: steelyard plan-budget labelled.parquet --samples 8 --score prm -o plan.json"


def run(
    files: Files,
    samples: Annotated[
        float | None,
        typer.Option(metavar="MEAN", help="Budget: mean samples per question to stay within.", show_default=False),
    ] = None,
    loss: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Accuracy to lose at most against all samples: 0.01 is one point.", show_default=False
        ),
    ] = None,
    plan: Plan = None,
    method: Annotated[
        list[str] | None,
        method_option("Without a plan: the one to fit here. Default: calibrated, with --source committee."),
    ] = None,
    output: Annotated[Path | None, output_option("the plan with its stopping rule (.json)")] = None,
    score: ScoreName = None,
    source: SourceName = None,
    n: Annotated[int | None, n_option("the first N. Default: all")] = None,
    calibrate: Annotated[
        float, calibrate_option("Here half: a method is fitted and a rule chosen on them, which takes more of them.")
    ] = 0.5,
    answers: Answers = "math",
    rename: Rename = None,
    layout: LayoutName = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Say when to stop sampling, what that saves and whether it pays, and write the rule into a plan."""
    import steelyard as sy
    from steelyard.methods.base.enough import first_samples
    from steelyard.methods.base.plan import PLAN
    from steelyard.outputs import check_output

    if samples is None and loss is None:
        raise sy.SettingError("say what to aim for: --samples 8 (mean samples per question) or --loss 0.01 (one point)")
    if output:
        check_output(output, PLAN, inputs=[*files, plan], overwrite=overwrite)
    usual = "calibrated" if source is None else "committee"
    voter = sy.load(plan) if plan else sy.method_class(one_name(method, "--method") or usual)()
    fitted = voter.fitted_on_
    trained, column = (fitted.score, source or fitted.source) if fitted else (None, source)
    options: dict[str, Any] = {
        "rename": renames(rename),
        "layout": layout,
        "answers": answers,
        "need_score": voter.scored,
    }
    with show.progress(f"Reading {spoken(files)}") as progress:
        pool = sy.read(source_of(files), score=score or trained, source=column, progress=progress, **options)
    used = first_samples(pool, n)
    found = sy.plan_budget(used, voter, samples=samples, loss=loss, calibrate=calibrate, refit=not plan, seed=seed)
    if output:
        found.method.save(output, overwrite=overwrite)
    if json:
        sizes = {"calibration_questions": found.calibration_questions, "test_questions": found.test_questions}
        rule = {"stopping": found.rule.plain(), "figures": found.figures, "advice": found.advice()}
        show.as_json({"rows": found.frontier.to_dicts(), **rule, **sizes, "seed": seed})
        return
    show.frontier_table(found.frontier, found.calibration_questions, found.test_questions)
    show.say(found.advice())
    show.say(f"Plan written to {output}" if output else "Not saved: add -o plan.json to keep this rule.")
