"""The status of a run, as one plain dictionary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steelyard.runs.bill import bills, check_price
from steelyard.runs.derived_table import FILE, is_fresh
from steelyard.runs.imported import imported_lists
from steelyard.runs.lock import holder
from steelyard.runs.losses import shortfall
from steelyard.runs.manifest import Manifest
from steelyard.runs.parted_status import parted_status
from steelyard.runs.parts import is_parted_run
from steelyard.runs.run import Run
from steelyard.runs.sample_numbers import split_number
from steelyard.runs.source_share import Share
from steelyard.runs.state import Tally
from steelyard.runs.usage import spent


def status(run: str | Path, *, price_response: float | None = None) -> dict[str, Any]:
    """Count what is done, what failed and why, and what is left, for the samples and for every verifier.

    `sources` counts the samples of every named upstream. `made_from` is the table that the run was made from, None for
    a run of `generate`. `table` is "up to date", "older than the journal", "not made yet", or "made from more than the
    journal holds", with the missing counts in `lost`. `writer` is the process that is writing to the run. `bills` are
    the costs and savings of on-demand scoring, in money if `price_response` is given. `spent` counts requests and the
    tokens that servers reported, by upstream ("" if there is only one) and by verifier, as far as they were recorded.
    `torn_bytes` is the size of an unfinished record at the end of the journal, which the next command removes. For a
    run in parts the counts are totals, and `parts` has the state and the current worker of each part.

    >>> import polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = sy.generate("questions.jsonl", "run", upstream=upstream, model="m", n=4)
    >>> found = sy.status("run")
    >>> found["samples"]["done"], found["samples"]["left"], found["table"]
    (8, 0, 'up to date')
    """
    folder = Path(run)
    if is_parted_run(folder):
        check_price(price_response)
        return parted_status(folder, status, price_response)
    writer = holder(folder)
    with Run.open(folder) as opened:
        run_bills = bills(opened, price_response)
        table = "up to date" if is_fresh(folder, opened.manifest) else "older than the journal"
        missing = (
            ""
            if table == "up to date"
            else shortfall(folder / FILE, opened.state.holds | imported_lists(opened.manifest))
        )
        table = "made from more than the journal holds" if missing else table
        samples = opened.state.samples
        return {
            "run": str(folder),
            "model": opened.manifest.model,
            "sources": {name: _of_source(opened, name) for name in opened.manifest.sources},
            "questions": opened.questions.height,
            "n": opened.manifest.n,
            "made_from": None if opened.manifest.rows is None else opened.manifest.questions_file or "a table",
            "samples": _counts(samples, opened.wanted, opened.manifest),
            "verifiers": {
                name: _counts(opened.state.scores[name], len(samples.done), opened.manifest, run_bills.get(name))
                for name in sorted({*opened.state.scores, *run_bills})
            },
            "bills": run_bills,
            "spent": spent(opened),
            "table": table if missing or (folder / FILE).exists() else "not made yet",
            "lost": missing,
            "writer": writer,
            "torn_bytes": opened.torn,
        }


def _of_source(run: Run, name: str) -> dict[str, Any]:
    share = Share(run, name)
    done, failed = share.done, len(share.failed)
    left = max(0, share.wanted - done - failed)
    return run.manifest.sources[name] | {"wanted": share.wanted, "done": done, "failed": failed, "left": left}


def _counts(tally: Tally, wanted: int, manifest: Manifest, bill: dict[str, Any] | None = None) -> dict[str, Any]:
    done, failed = len(tally.done), len(tally.failed)
    not_asked = bill["not_asked"] if bill else 0
    return {
        "wanted": wanted,
        "done": done,
        "failed": failed,
        "not_asked": not_asked,
        "left": max(0, wanted - done - failed - not_asked),
        "reasons": [{"reason": reason, "samples": count} for reason, count in tally.reasons.most_common()],
        "failures": [_failure(manifest, *key, reason) for key, reason in sorted(tally.failed.items())],
    }


def _failure(manifest: Manifest, question: str, number: int, reason: str) -> dict[str, Any]:
    """A failed sample; with its source if the run has several upstreams."""
    if not manifest.sources:
        return {"question": question, "sample": number, "reason": reason}
    sample, source = split_number(number)
    return {"question": question, "source": [*manifest.sources][source], "sample": sample, "reason": reason}
