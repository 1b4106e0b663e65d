"""Runs in parts on the command line: the options of an engine, and how its work is shown and logged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli.live_progress import live, sentence
from steelyard.foundation.errors import SettingError

if TYPE_CHECKING:
    from steelyard.sampling.progress import Progress

LOG = "progress.log"
EVERY = 30.0  # seconds between lines of the log, unless a part is finished

WorkerRange = Annotated[
    str | None,
    typer.Option(
        "--workers",
        metavar="COUNT",
        help="With --engine: how many parts are under way at once, or a range as 2:8. Default: what there is room for.",
        show_default=False,
    ),
]


def need_engine(**options: Any) -> None:
    """Refuse options that only an engine obeys."""
    for name, value in options.items():
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            raise SettingError(f"{option} is for an engine: give --engine ray or --engine processes:2 too")


@contextmanager
def logged(
    what: str, folder: Path, keep: Callable[[Progress], None] = lambda _: None
) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows where the work on all parts stands, and writes lines to RUN/progress.log.

    `keep` is told too.
    """
    last = {"parts": -1, "time": float("-inf")}
    with live(what) as shown:

        def tell(progress: Progress) -> None:
            keep(progress)
            shown(progress)
            now = time.monotonic()
            if progress.pieces_done != last["parts"] or now - last["time"] > EVERY:
                last.update(parts=progress.pieces_done, time=now)
                stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
                with suppress(OSError), (folder / LOG).open("a", encoding="utf-8") as file:  # a log ends no work
                    file.write(f"{stamp} {what}: {sentence(progress)}\n")

        yield tell
