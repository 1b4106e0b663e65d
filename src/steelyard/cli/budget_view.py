"""What plan-budget prints: the alternatives with their cost and accuracy, the plan, and how to follow it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli import show
from steelyard.cli.plan_commands import plan_commands
from steelyard.evaluation.percentages import percent, points

if TYPE_CHECKING:
    from steelyard.evaluation.budget_plan import BudgetPlan


def show_json(result: BudgetPlan, seed: int) -> None:
    """Print the alternatives and the plan as JSON."""
    plan = result.plan
    parts = {"stopping": plan.stopping_, "cascade": plan.cascade_, "asking": plan.asking_}
    show.as_json(
        {
            "rows": result.table.to_dicts(),
            "method": plan.name,
            **{name: None if part is None else part.plain() for name, part in parts.items()},
            "samples": plan.samples_,
            "figures": result.figures,
            "explanation": result.explain(),
            "calibration_questions": result.calibration_questions,
            "test_questions": result.test_questions,
            "seed": seed,
        }
    )


def show_budget(result: BudgetPlan, output: Path | None) -> None:
    """Print the alternatives and the plan for people."""
    first = "policy" if "policy" in result.table.columns else "budget"
    heads = (first, "cost", "accuracy %", "interval", *(f"against {name}" for name in result.rivals.values()), "buys")
    rows = [_cells(row, first, result) for row in result.table.iter_rows(named=True)]
    title = f"Accuracy over cost on {result.test_questions} questions, chosen on {result.calibration_questions} others"
    show.table(title, heads, rows, text=True)
    show.tell("cost: mean per question; against: difference in points, paired; *: the plan.")
    print()
    show.say(result.explain())
    for line in plan_commands(result.plan, output or Path("plan.json")):
        show.say(line)
    show.say(f"Plan written to {output}" if output else "Not saved: add -o plan.json to save this plan.")


def _cells(row: dict[str, Any], first: str, result: BudgetPlan) -> tuple[str, ...]:
    name = f"{row[first]:.4g}" if isinstance(row[first], float) else str(row[first] or "none")
    differences = [f"{points(row[rival])} ± {percent(row[f'{rival}_se'])}" for rival in result.rivals]
    accuracy = f"{percent(row['accuracy'])} ± {percent(row['se'])}"
    interval = f"{percent(row['low'])} to {percent(row['high'])}"
    return f"{name}{' *' * row['chosen']}", f"{row['cost']:.4g}", accuracy, interval, *differences, row["buys"]
