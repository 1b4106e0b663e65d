"""What `score` reports: the scores of a run, and the verifiers there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.cli import show
from steelyard.cli.next_step import after_score

if TYPE_CHECKING:
    from steelyard.jobs.score_samples import Scored

ENOUGH = 40  # questions, of which `evaluate` calibrates on 30 %


def show_scored(done: Scored, column: str, json: bool) -> None:
    """Say what was scored, what could not be and why, and what comes next."""
    if json:
        show.as_json(
            {
                "run": str(done.run),
                "scored": done.before + done.new, "new": done.new, "truncated": done.truncated, "empty": done.empty,
                "unsampled": done.unsampled, "failures": dict(done.failures), "found": done.found,
            }
        )  # fmt: skip
        return
    if done.found:
        show.say(f"Verifier: {', '.join(f'{name} {value}' for name, value in done.found.items() if value is not None)}")
    show.say(f"Scored {done.new} responses, {done.before} were scored before.")
    notes = [
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
    show.say(f"Next: {after_score(done.run, column)}")


def show_verifiers(json: bool) -> None:
    """List the verifiers."""
    from steelyard.verifiers import all_protocols
    from steelyard.verifiers.listing import rows

    found = rows(all_protocols())
    if json:
        show.as_json(
            {"verifiers": [dict(zip(("verifier", "model", "runs", "split"), row, strict=True)) for row in found]}
        )
        return
    show.table("Verifiers", ("verifier", "model", "runs", "split"), found, text=True)
