"""What `score` reports: the scores of a run, and the verifiers there are."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from steelyard.cli import show
from steelyard.cli.next_step import VERDICTS, after_score
from steelyard.cli.spent_view import say_spent, spent_object

if TYPE_CHECKING:
    from pathlib import Path

    from steelyard.cli.estimating import Spending
    from steelyard.sampling.llm.prices import Price
    from steelyard.sampling.score.score import ScoreOrder
    from steelyard.sampling.score.score_samples import Scored

ENOUGH = 40  # questions, of which `evaluate` calibrates on 30 %


def show_scored(done: Scored, column: str, json: bool, plan: Path | None = None, price: Price | None = None) -> None:
    """Say what was scored, what could not be and why, and what comes next."""
    spent, prices = {"": done.spent}, {"": price} if price else {}
    if json:
        show.as_json(
            {
                "run": str(done.run),
                "scored": done.before + done.new, "new": done.new, "truncated": done.truncated, "empty": done.empty,
                "unsampled": done.unsampled, "failures": dict(done.failures), "found": done.found,
                "spent": spent_object(spent, prices),
                "rule": done.rule, "not_asked": done.not_asked, "copied": done.copied,
            }
        )  # fmt: skip
        return
    if done.found:
        known = {name: value for name, value in done.found.items() if value is not None}
        about = [str(value) if name == "where" else f"{name} {value}" for name, value in known.items()]
        show.say(f"Verifier: {', '.join(about)}")
    show.say(f"Scored {done.new} responses, {done.before} were scored before.")
    say_spent(spent, prices)
    if done.rule:
        show.say(_not_needed(done))
    notes = [
        (done.copied, "more have the words of one that was scored, and its score"),
        (done.truncated, "were longer than the verifier's context: the tail of their steps was scored"),
        (done.empty, "have no text and no score"),
        (done.unsampled, "samples failed in the run and have no score"),
    ]
    for count, what in notes:
        if count:
            show.say(f"  {count} {what}")
    for reason, count in done.failures.most_common(10):
        show.say(f"  {count} failed: {show.shortened(reason, 200)}")
    if done.failures:
        show.say("Run the same command again to try the failed ones again.")
    following = shlex.join(["steelyard", "vote", str(done.run), "--plan", str(plan), *VERDICTS]) if done.rule else None
    show.say(f"Next: {following or after_score(done.run, column)}")


def should_send(source: Any, order: ScoreOrder, on_demand: bool, made_from: dict[str, Any], spending: Spending) -> bool:
    """Estimate the cost; return whether to send the requests."""
    from steelyard.sampling.command_estimates import estimate_score
    from steelyard.sampling.llm.prices import VERIFIER

    estimate = estimate_score(source, order, on_demand=on_demand, **made_from)
    return spending.should_send({VERIFIER: estimate}, "responses")


def _not_needed(done: Scored) -> str:
    """How many responses the verifier did not need to read, and by what."""
    read = done.before + done.new + done.copied + done.failures.total()
    why = "no score of theirs could change a verdict" if done.rule == "exact" else "not worth the price of a score"
    share = done.not_asked / max(1, read + done.not_asked)
    return (
        f"{done.not_asked} of {read + done.not_asked} responses ({share:.0%}) were not asked: {why} (rule {done.rule})."
    )


def show_verifiers(json: bool) -> None:
    """List the verifiers."""
    from steelyard.sampling.verifiers import all_protocols
    from steelyard.sampling.verifiers.protocol import verifier_rows

    found = verifier_rows(all_protocols())
    if json:
        show.as_json(
            {"verifiers": [dict(zip(("verifier", "model", "runs", "split"), row, strict=True)) for row in found]}
        )
        return
    show.table("Verifiers", ("verifier", "model", "runs", "split"), found, text=True)
