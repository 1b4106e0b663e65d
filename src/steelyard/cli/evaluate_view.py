"""The output of `steelyard evaluate` for --frugal and --plan, and a hint if an accuracy looks wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.answers.unreadable import MAX_SHARE
from steelyard.cli import console
from steelyard.cli.options import source_of, title_of
from steelyard.cli.progress_display import progress_bar
from steelyard.cli.text_tables import print_table
from steelyard.evaluation.percentages import percent, points
from steelyard.foundation.errors import SettingError, did_you_mean

if TYPE_CHECKING:
    import polars as pl

    from steelyard.evaluation.cascade_replay import CascadeReplay
    from steelyard.voting.pools.pool import LabelledPool

PAGE = "docs/wrong-accuracy.md"


def show_frugal(result: pl.DataFrame, facts: dict[str, Any], json: bool) -> None:
    """Show one row per method and n: what was read, and what the verdicts are worth."""
    if json:
        console.as_json({"rows": result.to_dicts(), **facts})
        return
    rows = [
        (
            row["method"],
            str(row["n"]),
            percent(row["scored"]),
            f"{percent(row['accuracy'])} ± {percent(row['se'])}",
            percent(row["all_scores"]),
            f"{points(row['gain'])} ± {percent(row['gain_se'])}",
            str(row["changed"]),
            *("-" if row[name] is None else f"{row[name]:.3f}" for name in ("ece", "ece_all_scores")),
        )
        for row in result.iter_rows(named=True)
    ]
    heads = (
        "method", "n", "scored %", "accuracy %", "all scores", "gain on majority", "changed", "ECE", "of all scores",
    )  # fmt: skip
    title = (
        f"Asking by {facts['rule']}: {facts['test_questions']} test questions, {facts['calibration_questions']} others"
    )
    print_table(title, heads, rows)
    console.tell("scored: share of the responses that the verifier reads; equal texts of a question count once;")
    console.tell("changed: verdicts that differ from those with all scores; error: standard error over questions.")
    for row in result.iter_rows(named=True):
        if row["advice"]:
            console.tell(f"{row['method']}, n = {row['n']}: {row['advice']}")


def check_frugal(rule: str | None, price: float | None) -> None:
    """Refuse a rule that there is not, and a price without a rule that reads it, before any file is read."""
    from steelyard.evaluation.scores_on_demand import check_price
    from steelyard.voting.on_demand import asking_names

    rules = asking_names()
    if rule is not None and rule not in rules:
        raise SettingError(f"unknown --frugal rule {rule!r}: {did_you_mean(rule, rules)}")
    if price is not None and rule != "expected":
        raise SettingError("--price-score needs --frugal expected: add it, or leave out the price")
    if price is not None:
        check_price(price)


def refuse_beside_plan(**options: object) -> None:
    """Refuse options that say how to measure methods: a plan's cascade knows all of that."""
    if wrong := [option for option, value in options.items() if value]:
        option = "-n" if wrong[0] == "n" else f"--{wrong[0].replace('_', '-')}"
        raise SettingError(
            f"--plan replays the plan's cascade, and {option} is for measuring methods: leave out one of them"
        )


def replay(files: list[Path], plan: Path, price: list[str] | None, *, seed: int, **options: Any) -> CascadeReplay:
    """Read the labelled file as the plan needs it, and replay the plan's cascade."""
    import steelyard as sy
    from steelyard.evaluation.cascade_replay import cascade_of
    from steelyard.evaluation.price_table import PriceTable, parse_prices
    from steelyard.tables.plan_reading import answers_of_plan, rename_of_plan

    voter = sy.load(plan)
    fitted = voter.fitted_on_
    table = PriceTable.of(parse_prices(price or []))
    if table.sells_scores or table.sample is not None:
        raise SettingError("a cascade buys responses of sources: give --price NAME=PRICE per source, or sample=COLUMN")
    if not (table.by_source or cascade_of(voter).origin.prices):
        raise SettingError("the plan has no prices: give --price NAME=PRICE per million tokens, or sample=COLUMN")
    column = options.pop("source") or (fitted.source if fitted else None)
    score = options.pop("score") or (fitted.score if fitted and voter.reads_scores() else None)
    options["answers"] = answers_of_plan(voter, options["answers"])
    options["rename"] = rename_of_plan(voter, source_of(files), options["rename"])
    with progress_bar(f"Reading {title_of(files)}") as progress:
        pool = sy.read(
            source_of(files), score=score, source=column, tokens=table.column or True, need_score=voter.reads_scores(),
            progress=progress, **options,
        )  # fmt: skip
    return sy.evaluation.replay_cascade(pool, voter, table.sources or None, costs=table.column is not None, seed=seed)


def show_replay(replayed: CascadeReplay, json: bool) -> None:
    """Print accuracy and cost beside everyone, and who was asked how often."""
    if json:
        sizes = {"test_questions": replayed.questions, "left_out_questions": replayed.left_out}
        console.as_json({"rows": replayed.rows.to_dicts(), "sampled": replayed.sampled.to_dicts(), **sizes})
        return
    rows = [
        (
            row["policy"],
            f"{row['cost']:.4g}",
            f"{percent(row['accuracy'])} ± {percent(row['se'])}",
            f"{percent(row['low'])} to {percent(row['high'])}",
            "" if row["policy"] == "everyone" else f"{points(row['gain'])} ± {percent(row['gain_se'])}",
        )
        for row in replayed.rows.iter_rows(named=True)
    ]
    title = f"The cascade of the plan on {replayed.questions} questions: {replayed.cascade.described()}"
    print_table(title, ("policy", "cost", "accuracy %", "interval", "against everyone"), rows, text=True)
    source_rows = [(name, f"{100 * share:.1f}", f"{cost:.4g}") for name, share, cost in replayed.sampled.iter_rows()]
    print_table("Who is asked", ("source", "of questions, %", "cost"), source_rows)
    print("cost: mean per question; against everyone: points, paired.")
    if replayed.left_out:
        console.say(f"{replayed.left_out} other questions are left out, because the cascade was learned on them.")


def methods_without_scores(pool: LabelledPool) -> list[str]:
    """Return the methods that need no scores, with a note on what would allow more."""
    from steelyard.evaluation.accuracy_curves import all_methods
    from steelyard.voting.methods import method_class

    names = [name for name in all_methods(pool) if not method_class(name).scored]
    pooled = pool.origin.llms and pool.origin.source is None
    sources = f", and --source {pool.origin.llm_column} weights each LLM" if pooled else ""
    console.note(
        f"without scores, only {', '.join(names)} can be measured; 'steelyard score' adds scores to a file{sources}"
    )
    return names


def warn_of_accuracy(pool: LabelledPool) -> None:
    """Point to the page in one line where many answers are unreadable, or the vote is worse than one response."""
    share = 1 - float(pool.readable.mean())
    no_answers = share > MAX_SHARE and pool.similarity is None  # those that declined were reported when they were read
    unreadable = f"{percent(share)} % of the responses have no readable answer" if no_answers else ""
    if signs := [sign for sign in (unreadable, _below_one(pool)) if sign]:
        console.note(f"{' and '.join(signs)}: if the accuracy looks wrong, go through the checks in {PAGE}")


def _below_one(pool: LabelledPool) -> str:
    """Whether majority vote over all samples is less accurate than a single response, on average over questions."""
    import numpy as np

    from steelyard.voting.methods import method_class

    majority = float(method_class("majority")().predict(pool).correct(pool).mean())
    single = float((np.add.reduceat(pool.correct.astype(float), pool.starts[:-1]) / pool.sizes).mean())
    if majority >= single - 1e-9:
        return ""
    return f"majority vote ({percent(majority)} %) is less accurate than a single response ({percent(single)} %)"
