"""Where a long job stands, while it runs: a bar with rate, tokens, failures and time left, or plain lines in a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard.cli.show import QUIET, aside, plain
from steelyard.cli.time_left import NowAndThen, duration

if TYPE_CHECKING:
    from steelyard.sampling.progress import Progress

MOST_NAMED = 5  # upstreams in the line


@contextmanager
def live(what: str) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows where a job stands."""
    if not sys.stderr.isatty():
        yield _lines(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[says]}", markup=False),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, says="")

        def show(progress: Progress) -> None:
            there = progress.there + progress.done + progress.failed
            bar.update(task, total=progress.wanted, completed=there, says=plain(sentence(progress)))

        yield show


def _lines(what: str) -> Callable[[Progress], None]:
    """Print how long it will take as soon as that is known, and a line now and then."""
    line = NowAndThen(QUIET)

    def show(progress: Progress) -> None:
        if line.due(progress.seconds_left):
            aside(f"{what}: {sentence(progress)}")

    return show


def sentence(progress: Progress) -> str:
    """Where a job stands, in one line."""
    parts = [f"{progress.there + progress.done:,}/{progress.wanted:,}"]
    pace, tokens = progress.pace
    if progress.done:
        parts.append(f"{pace:,.1f} {progress.unit}/s")
    if progress.tokens:
        parts.append(f"{tokens:,.0f} tokens/s")
    if progress.pieces:
        parts.append(f"{progress.pieces_done:,} of {progress.pieces:,} parts finished")
    if progress.gpu is not None:
        parts.append(f"GPUs busy {progress.gpu:.0%} of the time")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if progress.parts:
        counts = (f"{name} {part.there + part.done:,}/{part.wanted:,}" for name, part in progress.parts.items())
        parts.append(" ".join(counts) if len(progress.parts) <= MOST_NAMED else f"{len(progress.parts)} upstreams")
    if progress.waiting and progress.waiting != float("inf"):
        parts.append(f"the server is busy, waiting {progress.waiting:.0f} s")
    elif progress.seconds_left is not None:
        parts.append(f"about {duration(progress.seconds_left)} left")
    return ", ".join(parts)
