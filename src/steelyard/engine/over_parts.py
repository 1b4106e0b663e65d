"""A task is done for the parts of a run by an engine; what cannot be done is reported by name, and the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from steelyard.engine.engines import Engine
from steelyard.engine.part_warnings import ToldOnce
from steelyard.engine.run_progress import PartDone, RunProgress
from steelyard.engine.scheduler import Finished
from steelyard.foundation.errors import RunError, SettingError
from steelyard.runs.derived_table import FILE as TABLE
from steelyard.runs.manifest import sha256_of
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.parts import FILE
from steelyard.runs.seal import read_seal

FAILURES = 10  # parts in a row that end the work: the next ones would fail as well
NAMED = 3  # parts that a message names


def read_workers(text: str | int | None) -> tuple[int, int | None]:
    """Read `--workers`: 8 at most, or 2:8 for at least 2 and at most 8; None is as many as there is room for.

    A range says that more machines may come, which are then waited for; without one, none must start.

    >>> read_workers("2:8"), read_workers(4), read_workers(None)
    ((2, 8), (0, 4), (0, None))
    """
    if text is None:
        return 0, None
    low, found, high = str(text).partition(":")
    try:
        least, most = (int(low), int(high)) if found else (0, int(low))
        if most < max(1, least) or (found and least < 1):
            raise ValueError
    except ValueError:
        raise SettingError(f"cannot read --workers {text!r:.40}: give a number as 8, or a range as 2:8") from None
    return least, most


def over_parts(
    engine: Engine,
    task: Callable[[Any, RunPart], PartDone],
    order: Any,
    run: PartedRun,
    parts: Sequence[RunPart],
    status: RunProgress,
    *,
    workers: tuple[int, int | None],
    gpus: float | None = 0,
) -> dict[str, str]:
    """Do a task for all parts, and count each that is done; return why the others were not, by name.

    `workers` is how many must start, and how many may be at work at once; `gpus` are those of each.
    """
    failed: dict[str, str] = {}
    if not parts:
        status.report()
        return failed
    in_a_row, told = 0, ToldOnce()
    reads = {str((run.folder / FILE).resolve()): sha256_of(run.folder / FILE)}
    ended = engine.run(task, order, parts, workers=workers[1], least=workers[0], gpus=gpus, reads=reads)
    with status.watching():
        try:
            for each in ended:
                if isinstance(each, Finished):
                    status.finish(each.part.name, each.summary)
                    told.hear(each.part.name, each.summary.said)
                    in_a_row = 0
                    continue
                failed[each.part.name] = each.reason
                in_a_row += 1
                if in_a_row >= FAILURES:
                    status.stopped = True
                    break
        finally:
            close = getattr(ended, "close", None)
            if close:
                close()
    status.report()
    told.tell()
    return failed


def holds_of(run: PartedRun, part: RunPart) -> dict[str, int]:
    """How many rows, samples and scores a finished part holds, as its seal says; none of a part that has no table."""
    found = (read_seal(run.folder / part.name / TABLE) or {}).get("holds")
    return found if isinstance(found, dict) else {}


def unfinished(run: PartedRun, failed: dict[str, str], parts: int, *, stopped: bool) -> RunError:
    """The error of work that some parts could not be done of."""
    reasons = {name: reason.partition("; the others are safe")[0] for name, reason in sorted(failed.items())[:NAMED]}
    shown = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
    more = f"; and {len(failed) - NAMED} more" if len(failed) > NAMED else ""
    early = f" It was stopped after {FAILURES} in a row, with others not begun." if stopped else ""
    return RunError(
        f"{len(failed)} of {parts} parts of {run.folder} could not be done ({shown}{more}).{early} The others are "
        "safe: fix it and run the same command again"
    )
