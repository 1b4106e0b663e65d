"""What `generate` reports: where the run stands, what failed and why, and what comes next."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli import show
from steelyard.cli.live_progress import live
from steelyard.cli.next_step import after_generate
from steelyard.cli.server_options import Shown
from steelyard.cli.spent_view import say_spent, spent_object
from steelyard.cli.time_left import duration

if TYPE_CHECKING:
    from steelyard.cli.estimating import Spending
    from steelyard.jobs.progress import Progress
    from steelyard.llm.prices import Prices

REASONS = 5  # shown


def tell(folder: Path, progress: Progress, stopped: bool, json: bool, prices: Prices) -> None:
    """Say where the run stands, what failed and why, and what comes next."""
    there, reasons = progress.held, progress.reasons
    failed = reasons.total()
    again = shlex.join(["steelyard", *sys.argv[1:]])
    if json:
        show.as_json(
            {
                "run": str(folder),
                "wanted": progress.wanted,
                "samples": there,
                "failed": failed,
                "reasons": dict(reasons.most_common()),
                "asked_now": progress.done + progress.failed,
                "tokens": progress.tokens,
                "spent": spent_object(progress.spent, prices),
                "seconds": round(progress.seconds, 3),
                "stopped": stopped,
                "again": again if stopped or failed or progress.lost else None,
            }
            | _by_source(progress)
        )
        return
    if not progress.done and not progress.failed and not stopped and not progress.lost:
        all_ = f"all {there:,}" if there >= progress.wanted else f"{there:,} of {progress.wanted:,}"
        show.say(f"Nothing to ask: {all_} samples are in {folder}")
        return
    asked = f"{progress.done:,} samples now, {progress.tokens:,} tokens, {duration(progress.seconds)}"
    show.say(f"{folder}: {there:,} of {progress.wanted:,} samples ({asked})")
    say_spent(progress.spent, prices)
    if progress.parts:
        rows = [(name, *map(str, _counted(part)), progress.lost.get(name, "")) for name, part in progress.parts.items()]
        show.table("", ("upstream", "wanted", "samples", "failed", "could not go on"), rows)
    if failed:
        rows = [(show.shortened(reason), f"{count:,}") for reason, count in reasons.most_common(REASONS)]
        show.table(f"{failed:,} samples failed; they stay in the table without an answer", ("reason", "samples"), rows)
    if stopped or failed or progress.lost:
        show.say(f"To {'go on' if stopped or progress.lost else 'try them again'}:\n\n  {again}")
    else:
        show.say(f"Next: {after_generate(folder)}")


def should_send(questions: str, folder: Path, options: dict[str, Any], probe: int | None, spending: Spending) -> bool:
    """Estimate the cost, after a probe if there is one; return whether to send the requests."""
    from steelyard.jobs.estimate_generate import estimate_generate
    from steelyard.jobs.generate_order import read_order
    from steelyard.jobs.generate_run import generate

    if probe is not None:
        shown: Shown[Progress] = Shown(lambda: live("Probing"))
        generate(questions, folder, probe=probe, progress=shown.progress, serve=shown.serve, **options)
    estimates = estimate_generate(*read_order(questions, **options), folder)
    return spending.should_send(
        estimates, "samples", "Add --probe 3 to sample three questions first for a closer estimate."
    )


def _by_source(progress: Progress) -> dict[str, object]:
    """What --json has of each upstream; nothing where there is only one, without a name."""
    if not progress.parts:
        return {}
    heads = ("wanted", "samples", "failed")
    parts = {name: dict(zip(heads, _counted(part), strict=True)) for name, part in progress.parts.items()}
    return {"sources": parts, "lost": progress.lost}


def _counted(part: Progress) -> tuple[int, int, int]:
    return part.wanted, part.there + part.done, part.failed
