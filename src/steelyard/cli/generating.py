"""What `generate` reports: where the run stands, what failed and why, and what comes next."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.cli import show
from steelyard.cli.live_progress import duration

if TYPE_CHECKING:
    from steelyard.jobs.progress import Standing

REASONS = 5  # shown


def tell(folder: Path, standing: Standing, stopped: bool, json: bool) -> None:
    """Say where the run stands, what failed and why, and what comes next."""
    from steelyard.runs.run import Run

    with Run.open(folder) as run:
        there, reasons = len(run.state.samples.done), Counter(run.state.samples.failed.values())
    failed = reasons.total()
    again = shlex.join(["steelyard", *sys.argv[1:]])
    if json:
        show.as_json(
            {
                "run": str(folder),
                "wanted": standing.wanted,
                "samples": there,
                "failed": failed,
                "reasons": dict(reasons.most_common()),
                "asked_now": standing.done + standing.failed,
                "tokens": standing.tokens,
                "seconds": round(standing.seconds, 3),
                "stopped": stopped,
                "again": again if stopped or failed else None,
            }
        )
        return
    if not standing.done and not standing.failed and not stopped:
        show.say(f"Nothing to ask: all {there:,} samples are in {folder}")
        return
    asked = f"{standing.done:,} samples now, {standing.tokens:,} tokens, {duration(standing.seconds)}"
    show.say(f"{folder}: {there:,} of {standing.wanted:,} samples ({asked})")
    if failed:
        rows = [(show.shortened(reason), f"{count:,}") for reason, count in reasons.most_common(REASONS)]
        show.table(f"{failed:,} samples failed; they stay in the table without an answer", ("reason", "samples"), rows)
    if stopped or failed:
        show.say(f"To {'go on' if stopped else 'try them again'}:\n\n  {again}")
    else:
        show.say(f"Next: steelyard score {shlex.quote(str(folder))} --verifier NAME")
