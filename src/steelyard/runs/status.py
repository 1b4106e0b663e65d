"""Where a run stands, as one plain object."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steelyard.runs.derived_table import FILE, is_fresh
from steelyard.runs.imported import came_along
from steelyard.runs.lock import holder
from steelyard.runs.losses import lost
from steelyard.runs.run import Run
from steelyard.runs.state import Tally


def status(run: str | Path) -> dict[str, Any]:
    """Count what is done, what failed and why, and what is left, for the samples and for every verifier.

    `made_from` is the table that the run was made from, None for a run of `generate`.
    `table` is "up to date", "older than the journal", "not made yet", or "made from more than the journal holds" with
    what is gone in `lost`; `writer` is the process that writes to the run
    now; `torn_bytes` are those of an unfinished record at the end of the journal, which the next command removes.

    >>> import polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = sy.generate("questions.jsonl", "run", upstream=upstream, model="m", n=4)
    >>> found = sy.status("run")
    >>> found["samples"]["done"], found["samples"]["left"], found["table"]
    (8, 0, 'up to date')
    """
    folder = Path(run)
    writer = holder(folder)
    with Run.open(folder) as opened:
        table = "up to date" if is_fresh(folder, opened.manifest) else "older than the journal"
        gone = "" if table == "up to date" else lost(folder / FILE, opened.state.holds | came_along(opened.manifest))
        table = "made from more than the journal holds" if gone else table
        samples = opened.state.samples
        return {
            "run": str(folder),
            "model": opened.manifest.model,
            "questions": opened.questions.height,
            "n": opened.manifest.n,
            "made_from": None if opened.manifest.rows is None else opened.manifest.questions_file or "a table",
            "samples": _counts(samples, opened.wanted),
            "verifiers": {
                name: _counts(tally, len(samples.done)) for name, tally in sorted(opened.state.scores.items())
            },
            "table": table if gone or (folder / FILE).exists() else "not made yet",
            "lost": gone,
            "writer": writer,
            "torn_bytes": opened.torn,
        }


def _counts(tally: Tally, wanted: int) -> dict[str, Any]:
    done, failed = len(tally.done), len(tally.failed)
    return {
        "wanted": wanted,
        "done": done,
        "failed": failed,
        "left": max(0, wanted - done - failed),
        "reasons": [{"reason": reason, "samples": count} for reason, count in tally.reasons.most_common()],
        "failures": [{"question": q, "sample": i, "reason": reason} for (q, i), reason in sorted(tally.failed.items())],
    }
