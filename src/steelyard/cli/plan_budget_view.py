"""The output of `steelyard plan-budget`: the alternatives with their cost and accuracy, the plan, and how to use it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli import console
from steelyard.cli.text_tables import print_table
from steelyard.evaluation.percentages import percent, points
from steelyard.foundation.errors import SteelyardError

if TYPE_CHECKING:
    from steelyard.evaluation.budget_plan import BudgetPlan
    from steelyard.voting.methods.base.method import Method


def show_json(result: BudgetPlan, seed: int) -> None:
    """Print the alternatives and the plan as JSON."""
    plan = result.plan
    parts = {"stopping": plan.stopping_, "cascade": plan.cascade_, "asking": plan.asking_}
    console.as_json(
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
    print_table(title, heads, rows, text=True)
    console.tell("cost: mean per question; against: difference in points, paired; *: the plan.")
    print()
    console.say(result.explain())
    for line in plan_commands(result.plan, output or Path("plan.json")):
        console.say(line)
    console.say(f"Plan written to {output}" if output else "Not saved: add -o plan.json to save this plan.")


def _cells(row: dict[str, Any], first: str, result: BudgetPlan) -> tuple[str, ...]:
    name = f"{row[first]:.4g}" if isinstance(row[first], float) else str(row[first] or "none")
    differences = [f"{points(row[rival])} ± {percent(row[f'{rival}_se'])}" for rival in result.rivals]
    accuracy = f"{percent(row['accuracy'])} ± {percent(row['se'])}"
    interval = f"{percent(row['low'])} to {percent(row['high'])}"
    return f"{name}{' *' * row['chosen']}", f"{row['cost']:.4g}", accuracy, interval, *differences, row["buys"]


def plan_commands(plan: Method, file: Path) -> list[str]:
    """Return what to do with a plan, in lines; commands are indented."""
    from steelyard.sampling.ask.prepare import by_score
    from steelyard.sampling.ask.sample_votes import COPY, SCORE

    score = plan.fitted_on_.score if plan.fitted_on_ and by_score(plan) and not plan.cascade_ else None
    column = (score or SCORE).partition(":")[0]
    with_plan = f"--plan {shlex.quote(str(file))}"
    if _compares_responses(column):
        return _with_comparisons(plan, column, with_plan)
    verifier = "" if column in (SCORE, COPY) else _verifier(plan, column)
    if verifier is None:
        return _without_verifier(plan, column, with_plan)
    if verifier and plan.stopping_:  # `ask` scores the samples when all are drawn
        return ["To use it:", f"  steelyard serve {_upstream(plan)} {verifier} {with_plan}"]
    frugal = f"{verifier} --frugal " if plan.asking_ and verifier else f"{verifier} " if verifier else ""
    lines = ["To use it:", f"  steelyard ask QUESTION {_upstream(plan)} {frugal}{with_plan}"]
    counts = {name: n for name, n in sorted((plan.samples_ or {}).items(), key=lambda pair: pair[1]) if name}
    if len(counts) > 1:
        lines.append("Or for a file of questions, in one run:")
        lines += [f"  steelyard generate QUESTIONS {_named([name])} -n {n} -o RUN" for name, n in counts.items()]
        if plan.asking_ and verifier:
            score_words = verifier.replace("--verifier-upstream", "--upstream").replace("--verifier-model", "--model")
            lines.append(f"  steelyard score RUN {score_words} --frugal {with_plan}")
        lines.append(f"  steelyard vote RUN {with_plan} -o verdicts.parquet")
    return lines


def _compares_responses(column: str) -> bool:
    """Whether a score comes from a judge that compares responses, which `ask` and `serve` refuse."""
    from steelyard.sampling.verifiers import find_verifier
    from steelyard.sampling.verifiers.protocol import PairProtocol

    try:
        return isinstance(find_verifier(column)[0], PairProtocol)
    except SteelyardError:
        return False


def _with_comparisons(plan: Method, column: str, with_plan: str) -> list[str]:
    """Return what to do with a plan for the score of a judge that compares responses."""
    return [
        "To use it:",
        f"  steelyard generate QUESTIONS {_upstream(plan)} -o RUN",
        f"  steelyard score RUN --verifier {column} --upstream URL --model MODEL",
        f"  steelyard vote RUN {with_plan} -o verdicts.parquet",
    ]


def _upstream(plan: Method) -> str:
    """Return the options that name the upstreams of a plan."""
    names = plan.cascade_.sources if plan.cascade_ else tuple(name for name in plan.samples_ or () if name)
    return _named(names) if names else "--upstream URL --model MODEL"


def _named(names: list[str] | tuple[str, ...]) -> str:
    return f"--upstream {shlex.quote(','.join(f'{name}=URL' for name in names))}"


def _verifier(plan: Method, column: str) -> str | None:
    """Return the options for the verifier that gives the score of a plan; None if there is none."""
    from steelyard.sampling.score.frugal_rule import score_of_plan
    from steelyard.sampling.verifiers import find_verifier
    from steelyard.sampling.verifiers.protocol import TokenProtocol

    try:
        protocol, verifier = find_verifier(column)
        score_of_plan(plan, "the plan", column)
    except SteelyardError:
        return None
    if verifier.name != column:
        return None
    if isinstance(protocol, TokenProtocol) and not protocol.served:
        return f"--verifier {column} --local"
    model = "" if verifier.model else " --verifier-model MODEL"
    return f"--verifier {column} --verifier-upstream URL{model}"


def _without_verifier(plan: Method, column: str, with_plan: str) -> list[str]:
    """Return what to do with a plan for a score that no verifier gives."""
    missing = f"It needs the score {column!r}, which no verifier of 'steelyard score' produces:"
    if plan.stopping_:
        return [f"{missing} use it in Python, with sy.Ballot(PLAN) and a score for each sample."]
    return [
        f"{missing} score the responses yourself, then vote:",
        f"  steelyard vote FILE {with_plan} -o verdicts.parquet",
    ]
