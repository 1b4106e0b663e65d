"""What `evaluate --plan` reads and shows: a plan's cascade on questions that it was not learned on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli import show
from steelyard.cli.options import source_of, spoken
from steelyard.evaluation.percentages import percent, points
from steelyard.foundation.errors import SettingError

if TYPE_CHECKING:
    from steelyard.evaluation.cascade_replay import CascadeReplay


def refuse_beside_plan(**given: object) -> None:
    """Refuse options that say how to measure methods: a plan's cascade knows all of that."""
    if wrong := [option for option, value in given.items() if value]:
        option = "-n" if wrong[0] == "n" else f"--{wrong[0].replace('_', '-')}"
        raise SettingError(
            f"--plan replays the plan's cascade, and {option} is for measuring methods: leave one of them away"
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
    with show.progress(f"Reading {spoken(files)}") as progress:
        pool = sy.read(
            source_of(files), score=score, source=column, tokens=table.column or True, need_score=voter.reads_scores(),
            progress=progress, **options,
        )  # fmt: skip
    return sy.evaluation.replay_cascade(pool, voter, table.sources or None, costs=table.column is not None, seed=seed)


def show_replay(found: CascadeReplay, json: bool) -> None:
    """Print accuracy and cost beside everyone, and who was asked how often."""
    if json:
        sizes = {"test_questions": found.questions, "left_out_questions": found.left_out}
        show.as_json({"rows": found.rows.to_dicts(), "asked": found.asked.to_dicts(), **sizes})
        return
    rows = [
        (
            row["policy"],
            f"{row['cost']:.4g}",
            f"{percent(row['accuracy'])} ± {percent(row['se'])}",
            f"{percent(row['low'])} to {percent(row['high'])}",
            "" if row["policy"] == "everyone" else f"{points(row['gain'])} ± {percent(row['gain_se'])}",
        )
        for row in found.rows.iter_rows(named=True)
    ]
    title = f"The cascade of the plan on {found.questions} questions: {found.cascade.described()}"
    show.table(title, ("policy", "cost", "accuracy %", "interval", "against everyone"), rows, text=True)
    who = [(name, f"{100 * share:.1f}", f"{cost:.4g}") for name, share, cost in found.asked.iter_rows()]
    show.table("Who is asked", ("source", "of questions, %", "cost"), who)
    print("cost: mean per question; against everyone: points, paired.")
    if found.left_out:
        show.say(f"{found.left_out} other questions are left out, because the cascade was learned on them.")
