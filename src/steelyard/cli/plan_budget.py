"""steelyard plan-budget: the best that a budget for samples, scores and sources buys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from steelyard.cli import options as opt
from steelyard.cli.plan_budget_view import show_budget, show_json
from steelyard.cli.progress_display import progress_bar

EXAMPLE = (
    "Example: steelyard plan-budget labelled.parquet --budget 8 --score prm -o plan.json\n\n"
    "Example: steelyard plan-budget labelled.parquet --source llm --price gpt=10,llama=0.1 --budget 65% -o plan.json"
    "\n\nExample: steelyard plan-budget labelled.parquet --price sample=1,score=0.5 --budget 32 -o plan.json"
    "\n\nExample: steelyard plan-budget labelled.parquet --source llm --price gpt=10,llama=0.1,score=0.0002 "
    "--budget 0.01 -o plan.json"
)


def run(
    files: opt.Files,
    price: Annotated[
        list[str] | None,
        opt.option(
            "--price",
            "NAME=PRICE",
            "Price of a million tokens of each source, such as gpt=10,llama=0.1. Or sample=1 (any sample), "
            "sample=COLUMN (a column of costs), score=0.2 (a score), score:gpt=0.5 (a score of one source). Anything "
            "without a price is free. Default: sample=1.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        opt.option(
            "--budget",
            "COST",
            "Maximum mean cost per question, or a share of the cost of the best single source, such as 65%.",
        ),
    ] = None,
    loss: Annotated[
        float | None,
        opt.option("--loss", "SHARE", "Maximum loss of accuracy compared with buying everything; 0.01 is one point."),
    ] = None,
    plan: opt.Plan = None,
    method: Annotated[
        list[str] | None,
        opt.method_option("Without a plan: the method to fit. Default: calibrated, or committee with --source."),
    ] = None,
    output: Annotated[Path | None, opt.output_option("the plan (.json)")] = None,
    score: opt.ScoreName = None,
    source: opt.SourceName = None,
    n: Annotated[int | None, opt.n_option("Uses the first N. Default: all")] = None,
    calibrate: Annotated[
        float, opt.calibrate_option("Half by default here, because a method is fitted and a plan is chosen on them.")
    ] = 0.5,
    answers: opt.Answers = "auto",
    labels: opt.Labels = "majority",
    rename: opt.Rename = None,
    layout: opt.LayoutName = None,
    seed: opt.Seed = 0,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Find the best use of a budget for samples, scores or sources, and save it as a plan."""
    import steelyard as sy
    from steelyard.evaluation.price_table import PriceTable, parse_budget, parse_prices
    from steelyard.foundation.outputs import check_output
    from steelyard.tables.plan_reading import answers_of_plan, check_plan_or_method, rename_of_plan
    from steelyard.tables.source_column import source_of_run
    from steelyard.voting.methods.base.calibration_checks import first_samples
    from steelyard.voting.methods.base.plan import PLAN

    check_plan_or_method(plan, method)
    source = source or source_of_run(files)
    prices, spend = parse_prices(opt.names(price) or []), parse_budget(budget)
    table = PriceTable.of(prices)
    table.check_goal(spend, loss)
    if output:
        check_output(output, PLAN, inputs=[*files, plan], overwrite=overwrite)
    default = "calibrated" if source is None else "committee"
    voter = sy.load(plan) if plan else sy.method_class(opt.one_name(method, "--method") or default)()
    fitted = voter.fitted_on_
    trained, column = (fitted.score, source or fitted.source) if fitted else (None, source)
    if (table.by_source or table.score_of) and column is None:
        raise sy.SettingError("these are prices per source: name the column with the sources, such as --source llm")
    options: dict[str, Any] = {
        "tokens": table.tokens,
        "rename": rename_of_plan(voter, opt.source_of(files), opt.renames(rename)),
        "layout": layout,
        "answers": answers_of_plan(voter, answers),
        "labels": labels,
        "need_score": voter.scored or table.sells_scores,
        "texts": table.sells_scores,
    }
    with progress_bar(f"Reading {opt.title_of(files)}") as progress:
        pool = sy.read(opt.source_of(files), score=score or trained, source=column, progress=progress, **options)
    with progress_bar("Comparing plans"):
        result = sy.plan_budget(
            first_samples(pool, n), voter, prices=prices, budget=spend, loss=loss, calibrate=calibrate, seed=seed
        )
    if output:
        result.save(output, overwrite=overwrite)
    if json:
        show_json(result, seed)
    else:
        show_budget(result, output)
