"""The output of `steelyard generate`: the state of the run, failures with their reasons, and the next command."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from steelyard.cli import console
from steelyard.cli.costs import probe_object, say_spent, spent_object
from steelyard.cli.next_step import after_generate
from steelyard.cli.progress_display import ServedProgress, duration, live
from steelyard.cli.text_tables import print_table

if TYPE_CHECKING:
    from steelyard.cli.costs import Spending
    from steelyard.sampling.generate.generate_order import GenerateOptions
    from steelyard.sampling.progress import Progress

REASONS = 5  # shown


def tell(folder: Path, progress: Progress, stopped: bool, spending: Spending) -> None:
    """Say where the run stands, what failed and why, and what comes next."""
    there, reasons, prices = progress.held, progress.reasons, spending.prices
    failed = reasons.total()
    again = shlex.join(["steelyard", *sys.argv[1:]])
    if spending.json:
        console.as_json(
            {
                "run": str(folder),
                "wanted": progress.requested,
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
            | probe_object(spending.probe, prices)
        )
        return
    if not progress.done and not progress.failed and not stopped and not progress.lost:
        all_ = f"all {there:,}" if there >= progress.requested else f"{there:,} of {progress.requested:,}"
        console.say(f"Nothing to sample: {all_} samples are in {folder}")
        return
    usage = f"{progress.done:,} samples now, {progress.tokens:,} tokens, {duration(progress.seconds)}"
    console.say(f"{folder}: {there:,} of {progress.requested:,} samples ({usage})")
    say_spent(progress.spent, prices)
    if progress.parts:
        rows = [(name, *map(str, _counted(part)), progress.lost.get(name, "")) for name, part in progress.parts.items()]
        print_table("", ("upstream", "requested", "samples", "failed", "stopped because"), rows)
    if failed:
        rows = [(console.shortened(reason), f"{count:,}") for reason, count in reasons.most_common(REASONS)]
        print_table(f"{failed:,} samples failed; they stay in the table without an answer", ("reason", "samples"), rows)
    if stopped or failed or progress.lost:
        console.say(f"To {'resume' if stopped or progress.lost else 'retry them'}:\n\n  {again}")
    else:
        console.say(f"Next: {after_generate(folder)}")


def sample(work: Callable[[], Progress], shown: ServedProgress[Progress], folder: Path, spending: Spending) -> Progress:
    """Do the work; if it is interrupted, or an upstream is lost, say where the run stands."""
    from steelyard.foundation.errors import UpstreamError

    try:
        return work()
    except KeyboardInterrupt:
        if shown.last is None:
            raise
        tell(folder, shown.last, True, spending)
        console.say()
        raise typer.Exit(130) from None
    except UpstreamError:
        if shown.last and shown.last.lost:
            tell(folder, shown.last, False, spending)
        raise


def send_probe(questions: str, folder: Path, options: GenerateOptions, probe: int, spending: Spending) -> Spending:
    """Sample the first questions, if that is unlikely to cost more than the limit; count and print what it costs."""
    from steelyard.sampling.command_estimates import estimate_generate
    from steelyard.sampling.generate.generate_order import read_order
    from steelyard.sampling.generate.generate_run import generate

    estimates = estimate_generate(*read_order(questions, **options), folder, probe)
    spending.confirm_probe(estimates)
    shown: ServedProgress[Progress] = ServedProgress(lambda: live("Probing"))
    made = sample(
        lambda: generate(questions, folder, probe=probe, progress=shown.progress, serve=shown.serve, **options),
        shown, folder, spending,
    )  # fmt: skip
    if not spending.json:
        say_spent(made.spent, spending.prices, " on the probe")
    return spending.after_probe(estimates, made.spent)


def should_send(questions: str, folder: Path, options: GenerateOptions, spending: Spending) -> bool:
    """Estimate the cost; return whether to send the requests."""
    from steelyard.sampling.command_estimates import estimate_generate
    from steelyard.sampling.generate.generate_order import read_order

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
    return part.requested, part.there + part.done, part.failed
