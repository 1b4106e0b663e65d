"""What plan-budget shows where samples and scores of one LLM have prices: how much of each to buy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.cli import show
from steelyard.evaluation.percentages import percent, points

if TYPE_CHECKING:
    from steelyard.evaluation.committee_budget import CommitteeBudget
    from steelyard.evaluation.joint_budget import JointBudget


def keep_plan(found: JointBudget | CommitteeBudget, output: Path | None, overwrite: bool) -> None:
    """Write the plan, if it is to be kept."""
    if output:
        found.method.save(output, overwrite=overwrite)


def show_json(found: JointBudget | CommitteeBudget, seed: int) -> None:
    """Print the curve, and what was chosen, as JSON."""
    sizes = {"calibration_questions": found.calibration_questions, "test_questions": found.test_questions}
    asking = found.method.asking_.plain() if found.method.asking_ else None
    plain = {"method": found.method.name, "asking": asking, "figures": found.figures, "advice": found.advice()}
    show.as_json({"rows": found.curve.to_dicts(), **plain, **sizes, "seed": seed})


def joint_view(found: JointBudget, output: Path | None, overwrite: bool, json: bool, seed: int) -> None:
    """Write the plan and print the curve."""
    keep_plan(found, output, overwrite)
    if json:
        show_json(found, seed)
        return
    rows = []
    for row in found.curve.iter_rows(named=True):
        gain, over = (f"{points(row[name])} ± {percent(row[f'{name}_se'])}" for name in ("gain", "over_vanilla"))
        asked = f"{row['scores']:.1f}" if row["margin"] is not None else "none"
        accuracy = (
            f"{percent(row['accuracy'])} ± {percent(row['se'])}",
            f"{percent(row['low'])} to {percent(row['high'])}",
        )
        budget = f"{row['budget']:.4g}{' *' * row['chosen']}"
        rows.append((budget, str(row["n"]), asked, f"{row['cost']:.4g}", *accuracy, gain, over))
    heads = ("budget", "samples", "scores", "cost", "accuracy %", "interval", "against majority", "against vanilla")
    show.table(
        f"Samples and scores on {found.test_questions} questions, chosen on {found.calibration_questions} others",
        heads, rows,
    )  # fmt: skip
    show.tell(
        "scores and cost: mean per question; none: it does not pay to ask, so the samples are counted (majority);"
    )
    show.tell("against majority with more samples, and vanilla with all scores, for the same cost: points, paired.")
    print()
    show.say(found.advice())
    show.say(f"Plan written to {output}" if output else "Not saved: add -o plan.json to keep this plan.")
