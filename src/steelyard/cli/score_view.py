"""The output of `steelyard score`: the scores of a run, or the list of verifiers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from steelyard.cli import console
from steelyard.cli.costs import say_spent, spent_object
from steelyard.cli.next_step import VERDICTS, after_score
from steelyard.cli.text_tables import print_table

if TYPE_CHECKING:
    from pathlib import Path

    from steelyard.cli.costs import Spending
    from steelyard.sampling.llm.prices import Price
    from steelyard.sampling.score.score import ScoreOrder
    from steelyard.sampling.score.score_samples import Scored


def show_scored(
    done: Scored,
    column: str,
    json: bool,
    plan: Path | None = None,
    price: Price | None = None,
    similarity: str | None = None,
) -> None:
    """Say what was scored, what could not be and why, and what comes next."""
    spent, prices = {"": done.spent}, {"": price} if price else {}
    if json:
        console.as_json(
            {
                "run": str(done.run),
                "scored": done.before + done.new, "new": done.new, "truncated": done.truncated, "empty": done.empty,
                "unsampled": done.unsampled, "failures": dict(done.failures), "found": done.detected,
                "spent": spent_object(spent, prices),
                "rule": done.rule, "not_scored": done.not_scored, "copied": done.copied,
                "comparisons": done.comparisons, "ties": done.ties, "unreadable": done.unreadable,
            }
        )  # fmt: skip
        return
    if done.detected:
        detected = {name: value for name, value in done.detected.items() if value is not None}
        facts = [str(value) if name == "where" else f"{name} {value}" for name, value in detected.items()]
        console.say(f"Verifier: {', '.join(facts)}")
    console.say(f"Scored {done.new} responses; {done.before} were already scored.")
    say_spent(spent, prices)
    if done.rule:
        console.say(_not_needed(done))
    if done.comparisons:
        ties, unreadable = ("the orders contradict each other, or about 0.5", "compared by their words")
        if similarity is None:
            ties, unreadable = ("0.5 for both responses", "left out")
        console.say(
            f"{done.comparisons} comparisons, each in both orders: {done.ties} ties ({ties}), "
            f"{done.unreadable} unreadable ({unreadable})."
        )
    notes = [
        (done.copied, "more have the same text as a scored one, and share its score"),
        (done.truncated, "were longer than the verifier's context: the tail of their steps was scored"),
        (done.empty, "have no text and no score" if similarity is None else "have no answer to compare"),
        (done.unsampled, "samples failed in the run and have no score"),
    ]
    for count, note in notes:
        if count:
            console.say(f"  {count} {note}")
    for reason, count in done.failures.most_common(10):
        console.say(f"  {count} failed: {console.shortened(reason, 200)}")
    if done.failures:
        console.say("Run the same command again to retry the failed ones.")
    following = shlex.join(["steelyard", "vote", str(done.run), "--plan", str(plan), *VERDICTS]) if done.rule else None
    console.say(f"Next: {following or after_score(done.run, column, similarity)}")


def should_send(source: Any, order: ScoreOrder, on_demand: bool, made_from: dict[str, Any], spending: Spending) -> bool:
    """Estimate the cost; return whether to send the requests."""
    from steelyard.sampling.command_estimates import estimate_score
    from steelyard.sampling.llm.prices import VERIFIER

    estimate = estimate_score(source, order, on_demand=on_demand, **made_from)
    return spending.should_send({VERIFIER: estimate}, "responses")


def _not_needed(done: Scored) -> str:
    """How many responses the verifier did not need to read, and by what."""
    read = done.before + done.new + done.copied + done.failures.total()
    why = "their scores could not change a verdict" if done.rule == "exact" else "not worth the price of a score"
    share = done.not_scored / max(1, read + done.not_scored)
    total = read + done.not_scored
    return f"{done.not_scored} of {total} responses ({share:.0%}) were not scored: {why} (rule {done.rule})."


def show_verifiers(json: bool) -> None:
    """List the verifiers."""
    from steelyard.sampling.verifiers import all_protocols
    from steelyard.sampling.verifiers.protocol import verifier_rows

    rows = verifier_rows(all_protocols())
    if json:
        console.as_json(
            {"verifiers": [dict(zip(("verifier", "model", "runs", "split"), row, strict=True)) for row in rows]}
        )
        return
    print_table("Verifiers", ("verifier", "model", "runs", "split"), rows, text=True)
