"""steelyard plan-budget: when to stop sampling, whom to ask next or what to score, for a budget or for a loss."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli import show
from steelyard.cli.cascade_view import budget_of, cascade_view, check_aim, prices_of
from steelyard.cli.committee_view import committee_view
from steelyard.cli.joint_prices import check_joint, plan_jointly
from steelyard.cli.joint_view import joint_view
from steelyard.cli.options import (
    Answers,
    Files,
    Json,
    Labels,
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

EXAMPLE = (
    "Example: steelyard plan-budget labelled.parquet --samples 8 --score prm -o plan.json\n\n"
    "Example: steelyard plan-budget labelled.parquet --source llm --price gpt=10,llama=0.1 --budget 65% -o plan.json"
    "\n\nExample: steelyard plan-budget labelled.parquet --price-sample 1 --price-score 0.5 --budget 32 -o plan.json"
    "\n\nExample: steelyard plan-budget labelled.parquet --source llm --price gpt=10,llama=0.1 --price-score 0.0002 "
    "--budget 0.01 -o plan.json"
)


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
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PRICE",
            help="What a million tokens of each source cost, as gpt=10,llama=0.1. With --source: learns whom to "
            "ask, and when.",
            show_default=False,
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="What each response cost; instead of --price.", show_default=False),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="COST",
            help="With prices or --cost: mean cost per question, or a share of the best single source's, as 65%.",
            show_default=False,
        ),
    ] = None,
    price_sample: Annotated[
        float | None,
        typer.Option(
            metavar="PRICE",
            help="What one sample costs. With --price-score: learns how many samples to draw and scores to ask for, "
            "with --source of whom.",
            show_default=False,
        ),
    ] = None,
    price_score: Annotated[
        float | None,
        typer.Option(
            metavar="PRICE",
            help="What one score costs. In the money of --price-sample, or of --price; 0 where it is free.",
            show_default=False,
        ),
    ] = None,
    price_score_of: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PRICE",
            help="What one score of some sources costs, as gpt=0.5,llama=0.1, where it is not --price-score.",
            show_default=False,
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
    answers: Answers = "auto",
    labels: Labels = "majority",
    rename: Rename = None,
    layout: LayoutName = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Say when to stop sampling, whom to ask or what to score, what that saves, and write it into a plan."""
    import steelyard as sy
    from steelyard.foundation.outputs import check_output
    from steelyard.tables.plan_reading import answers_of_plan, rename_of_plan
    from steelyard.tables.source_column import source_of_run
    from steelyard.voting.methods.base.enough import first_samples
    from steelyard.voting.methods.base.plan import PLAN

    source = source or source_of_run(files)
    both, named = None, prices_of(price)
    if price_sample is not None or price_score is not None or price_score_of:
        beside = {"plan": plan, "samples": samples, "loss": loss}
        both = check_joint(price_sample, price_score, price_score_of, budget, named, cost, source, **beside)
    prices = check_aim(samples, loss, budget, named, cost) if both is None else None
    cascading = both is None and (prices is not None or cost is not None)
    if samples is None and loss is None and not cascading and both is None:
        raise sy.SettingError("say what to aim for: --samples 8 (mean samples per question) or --loss 0.01 (one point)")
    if output:
        check_output(output, PLAN, inputs=[*files, plan], overwrite=overwrite)
    usual = "calibrated" if source is None else "committee"
    voter = sy.load(plan) if plan else sy.method_class(one_name(method, "--method") or usual)()
    fitted = voter.fitted_on_
    trained, column = (fitted.score, source or fitted.source) if fitted else (None, source)
    if cascading and column is None:
        raise sy.SettingError("prices are for sources: say who answered, as --source llm")
    options: dict[str, Any] = {
        "tokens": cost or named is not None,
        "rename": rename_of_plan(voter, source_of(files), renames(rename)),
        "layout": layout,
        "answers": answers_of_plan(voter, answers),
        "labels": labels,
        "need_score": voter.scored or both is not None,
        "texts": both is not None,
    }
    with show.progress(f"Reading {spoken(files)}") as progress:
        pool = sy.read(source_of(files), score=score or trained, source=column, progress=progress, **options)
    used = first_samples(pool, n)
    if both is not None:
        with show.progress("Trying samples and scores"):
            spent = plan_jointly(used, voter, both, calibrate, seed)
        if isinstance(spent, sy.CommitteeBudget):
            committee_view(spent, output, overwrite, json, seed)
        else:
            joint_view(spent, output, overwrite, json, seed)
        return
    if cascading:
        aims: dict[str, Any] = {"budget": budget_of(budget), "loss": loss, "calibrate": calibrate, "refit": not plan}
        cascade_view(sy.plan_cascade(used, voter, prices, seed=seed, **aims), output, overwrite, json, seed)
        return
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
