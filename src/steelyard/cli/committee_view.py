"""What plan-budget reads and shows where several sources and their scores have prices: how much of each to buy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli import show
from steelyard.cli.joint_view import keep_plan, show_json
from steelyard.evaluation.percentages import percent, points

if TYPE_CHECKING:
    from steelyard.evaluation.committee_budget import CommitteeBudget

HEADS = ("budget", "cost", "accuracy %", "interval", "against majority", "against the best source", "vote", "buys")


def committee_view(found: CommitteeBudget, output: Path | None, overwrite: bool, json: bool, seed: int) -> None:
    """Write the plan and print the curve."""
    keep_plan(found, output, overwrite)
    if json:
        show_json(found, seed)
        return
    show.table(
        f"Samples and scores of {len(found.sources)} sources on {found.test_questions} questions, chosen on "
        f"{found.calibration_questions} others",
        HEADS, [_cells(row) for row in found.curve.iter_rows(named=True)], text=True,
    )  # fmt: skip
    show.tell("cost: mean per question. buys: samples per question of each source; read: of these, by the verifier.")
    show.tell("against majority over all sources, and over the best single one, with more samples for the same cost:")
    show.tell("points, paired.")
    print()
    show.say(found.advice())
    show.say(_how(found, output))
    show.say(f"Plan written to {output}" if output else "Not saved: add -o plan.json to keep this plan.")


def _how(found: CommitteeBudget, output: Path | None) -> str:
    """The commands that follow the plan, and the one that cannot."""
    plan, samples = output or "plan.json", found.figures["samples"]
    fewest = " then ".join(name for name, n in sorted(samples.items(), key=lambda each: each[1]) if n)
    score = f"'steelyard score RUN --verifier NAME --plan {plan} --frugal', " if found.figures["scored"] else ""
    return (
        f"To follow it, draw into one run, the fewest samples first ({fewest}), with 'steelyard generate QUESTIONS "
        f"--upstream NAME=URL --model NAME=MODEL -n SAMPLES -o RUN'; then {score}'steelyard vote RUN --plan {plan}'. "
        "'steelyard ask' cannot: it draws as many samples of every LLM."
    )


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    gain = f"{points(row['gain'])} ± {percent(row['gain_se'])}"
    over = f"{points(row['over_single'])} ± {percent(row['over_single_se'])} ({row['single']})"
    accuracy = f"{percent(row['accuracy'])} ± {percent(row['se'])}", f"{percent(row['low'])} to {percent(row['high'])}"
    return (
        f"{row['budget']:.4g}{' *' * row['chosen']}",
        f"{row['cost']:.4g}",
        *accuracy,
        gain,
        over,
        row["method"],
        bought(row),
    )


def bought(row: dict[str, Any]) -> str:
    """Samples of each source, and how many of them the verifier reads.

    >>> bought({"samples": {"gpt": 4, "phi": 2}, "scored": ["gpt"], "scores": {"gpt": 1.24, "phi": 0.0}})
    '4 gpt (1.2 read) + 2 phi'
    """
    read = {name: f" ({row['scores'][name]:.1f} read)" for name in row["scored"]}
    return " + ".join(f"{n} {name}{read.get(name, '')}" for name, n in row["samples"].items() if n)
