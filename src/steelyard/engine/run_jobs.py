"""Jobs on the parts of a run: failed parts are reported by name, and the others continue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from steelyard.engine.engines import Engine
from steelyard.engine.run_progress import PartDone, RunProgress
from steelyard.engine.scheduler import Finished
from steelyard.engine.worker_messages import WarningSummary
from steelyard.foundation.errors import RunError, SettingError
from steelyard.runs.derived_table import FILE as TABLE
from steelyard.runs.manifest import sha256_of
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.parts import FILE
from steelyard.runs.seal import read_seal

FAILURES = 10  # failed parts in a row that stop the job: the next ones would fail as well
NAMED = 3  # parts that a message names


def read_workers(text: str | int | None) -> tuple[int, int | None]:
    """Read `--workers`: 8 for at most 8, 2:8 for at least 2 and at most 8, None for as many as fit.

    With a range, the job waits for machines that may be added; without one, no worker has to start.

    >>> read_workers("2:8"), read_workers(4), read_workers(None)
    ((2, 8), (0, 4), (0, None))
    """
    if text is None:
        return 0, None
    low, separator, high = str(text).partition(":")
    try:
        minimum, maximum = (int(low), int(high)) if separator else (0, int(low))
        if maximum < max(1, minimum) or (separator and minimum < 1):
            raise ValueError
    except ValueError:
        raise SettingError(f"cannot read --workers {text!r:.40}: give a number as 8, or a range as 2:8") from None
    return minimum, maximum


def run_parts(
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
    """Run a task on all parts and count those that finish; return the reasons of the others, by name.

    `workers` are the least that must start and the most that may run at once; `gpus` are those of each.
    """
    failed: dict[str, str] = {}
    if not parts:
        status.report()
        return failed
    in_a_row, notices = 0, WarningSummary()
    reads = {str((run.folder / FILE).resolve()): sha256_of(run.folder / FILE)}
    running = engine.run(task, order, parts, workers=workers[1], least=workers[0], gpus=gpus, reads=reads)
    with status.watching(), closing(running) as results:
        for result in results:
            if isinstance(result, Finished):
                status.finish(result.part.name, result.summary)
                notices.add(result.part.name, result.summary.warnings)
                in_a_row = 0
                continue
            failed[result.part.name] = result.reason
            in_a_row += 1
            if in_a_row >= FAILURES:
                status.stopped = True
                break
    status.report()
    notices.warn()
    return failed


def holds_of(run: PartedRun, part: RunPart) -> dict[str, int]:
    """How many rows, samples and scores a finished part has, from its seal; empty if it has no table."""
    holds = (read_seal(run.folder / part.name / TABLE) or {}).get("holds")
    return holds if isinstance(holds, dict) else {}


def unfinished(run: PartedRun, failed: dict[str, str], parts: int, *, stopped: bool) -> RunError:
    """The error of a job with failed parts."""
    reasons = {name: reason.partition("; the others are safe")[0] for name, reason in sorted(failed.items())[:NAMED]}
    shown = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
    more = f"; and {len(failed) - NAMED} more" if len(failed) > NAMED else ""
    early = f" It was stopped after {FAILURES} in a row, with others not begun." if stopped else ""
    return RunError(
        f"{len(failed)} of {parts} parts of {run.folder} could not be done ({shown}{more}).{early} The others are "
        "safe: fix it and run the same command again"
    )
