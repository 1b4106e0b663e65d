"""The progress of a long command: a bar or spinner on a terminal, a line now and then in a log. All go to stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

from steelyard.cli.console import aside, plain

if TYPE_CHECKING:
    from steelyard.sampling.llm.address import Address
    from steelyard.sampling.progress import Progress

QUIET = 10.0  # seconds between lines of progress in a log
MOST_NAMED = 5  # upstreams in the line
FIRST = 2.0  # seconds of work before its end is estimated
Update = TypeVar("Update")


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float], None]]:
    """Yield a function that shows the share of work done: a bar on a terminal, a line now and then in a log."""
    title = plain(title)
    if not sys.stderr.isatty():
        line, end = LogInterval(QUIET), TimeLeft()

        def show(share: float) -> None:
            left = end.at(share)
            if line.due(left):
                aside(f"{title}: {100 * share:.0f} %{time_left_text(left)}")

        yield show
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def spinner(title: str) -> Iterator[Callable[[float], None]]:
    """Yield a function that shows the elapsed seconds: a spinner on a terminal, a line now and then in a log."""
    title = plain(title)
    if not sys.stderr.isatty():
        line = LogInterval(QUIET)
        yield lambda seconds: aside(f"{title}: {seconds:.0f} s") if line.due(None) else None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(title)) as status:
        yield lambda seconds: status.update(f"{escape(title)}: {seconds:.1f} s")


@contextmanager
def live(title: str) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows the progress of a job."""
    if not sys.stderr.isatty():
        line = LogInterval(QUIET)
        yield lambda progress: aside(f"{title}: {sentence(progress)}") if line.due(progress.seconds_left) else None
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
        task = bar.add_task(title, total=None, says="")

        def show(progress: Progress) -> None:
            there = progress.there + progress.done + progress.failed
            bar.update(task, total=progress.requested, completed=there, says=plain(sentence(progress)))

        yield show


def sentence(progress: Progress) -> str:
    """The progress of a job, in one line."""
    parts = [f"{progress.there + progress.done:,}/{progress.requested:,}"]
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
        counts = (f"{name} {part.there + part.done:,}/{part.requested:,}" for name, part in progress.parts.items())
        parts.append(" ".join(counts) if len(progress.parts) <= MOST_NAMED else f"{len(progress.parts)} upstreams")
    if progress.waiting and progress.waiting != float("inf"):
        parts.append(f"the server is busy, waiting {progress.waiting:.0f} s")
    elif progress.seconds_left is not None:
        parts.append(f"about {duration(progress.seconds_left)} left")
    return ", ".join(parts)


class TimeLeft:
    """Estimates the time left from the share of the work that is done."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None

    def at(self, share: float) -> float | None:
        """Seconds left, None if unknown. Time before the first update, such as loading, is not counted.

        At least FIRST seconds must have passed, because the updates of a first batch arrive all at once.
        """
        now = time.monotonic()
        if self._first is None:
            self._first = now, share
        since, began = self._first
        return (now - since) * (1 - share) / (share - began) if share > began and now - since >= FIRST else None


class LogInterval:
    """Decides when a log gets a line: once the time left is known and long enough, then every `quiet` seconds."""

    def __init__(self, quiet: float) -> None:
        self._quiet, self._began, self._last = quiet, time.monotonic(), time.monotonic()
        self._reported = False

    def due(self, left: float | None) -> bool:
        """Whether it is time for a line, with this many seconds left."""
        now = time.monotonic()
        first = not self._reported and left is not None and now - self._began > FIRST and left > self._quiet
        if not first and now - self._last <= self._quiet:
            return False
        self._last, self._reported = now, self._reported or left is not None
        return True


def time_left_text(seconds: float | None) -> str:
    """The time left, as the end of a line.

    >>> time_left_text(75), time_left_text(None), time_left_text(0.2)
    (', about 1 min 15 s left', '', '')
    """
    return "" if seconds is None or seconds < 1 else f", about {duration(seconds)} left"


def duration(seconds: float) -> str:
    """Format a duration.

    >>> duration(42), duration(75), duration(3 * 3600 + 240)
    ('42 s', '1 min 15 s', '3 h 04 min')
    """
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    return (
        f"{total // 60} min {total % 60:02d} s" if total < 3600 else f"{total // 3600} h {total % 3600 // 60:02d} min"
    )


@contextmanager
def open_server(upstream: str, key_env: str) -> Iterator[Address]:
    """Yield the address of a server; the embedded LLM is started, with a warning, and stopped at the end."""
    from steelyard.sampling.llm.embedded import LOCAL, MODEL, WEAK
    from steelyard.sampling.llm.upstreams import served

    if upstream != LOCAL:
        with served(upstream, key_env) as address:
            yield address
        return
    with ExitStack() as stack:
        with spinner(f"Starting the embedded LLM, {MODEL}") as waiting:
            address = stack.enter_context(served(upstream, key_env, waiting))
        print(f"The embedded LLM listens at {address.base}. {WEAK}", file=sys.stderr)
        yield address


class ServedProgress(Generic[Update]):
    """Shows the progress of a job once its server is up; `last` is the last update, None before the first."""

    def __init__(self, begin: Callable[[], AbstractContextManager[Callable[[Update], None]]]) -> None:
        self.last: Update | None = None
        self._begin = begin
        self._show: Callable[[Update], None] | None = None

    @contextmanager
    def serve(self, upstream: str, key_env: str) -> Iterator[Address]:
        """Open a server; the first one starts the display."""
        with open_server(upstream, key_env) as address:
            if self._show:
                yield address
                return
            with self._begin() as self._show:
                yield address

    def progress(self, update: Update) -> None:
        """Show an update."""
        self.last = update
        if self._show:
            self._show(update)
