"""The status of a run, as one plain dictionary; that of a run in parts is the sum over its parts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from steelyard.runs.bill import bills, check_price, run_bills
from steelyard.runs.derived_table import FILE, is_fresh
from steelyard.runs.imported import imported_lists
from steelyard.runs.lock import holder
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.manifest import Manifest
from steelyard.runs.parameters import split_number
from steelyard.runs.part_folders import LOCKS, working
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.parts import is_parted_run
from steelyard.runs.run import Run
from steelyard.runs.run_state import Tally
from steelyard.runs.seal import shortfall
from steelyard.runs.source_share import Share
from steelyard.runs.token_usage import add_spent, spent

COUNTS = ("wanted", "done", "failed", "not_scored", "left")


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
        return _parted_status(folder, price_response)
    writer = holder(folder)
    with Run.open(folder) as opened:
        run_bills = bills(opened, price_response)
        table = "up to date" if is_fresh(folder, opened.manifest) else "older than the journal"
        holds = opened.state.holds | imported_lists(opened.manifest)
        missing = "" if table == "up to date" else shortfall(folder / FILE, holds)
        table = "made from more than the journal holds" if missing else table
        samples = opened.state.samples
        return {
            "run": str(folder),
            "model": opened.manifest.model,
            "sources": {name: _of_source(opened, name) for name in opened.manifest.sources},
            "questions": opened.questions.height,
            "n": opened.manifest.n,
            "made_from": None if opened.manifest.rows is None else opened.manifest.questions_file or "a table",
            "samples": _counts(samples, opened.requested, opened.manifest),
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
    left = max(0, share.requested - done - failed)
    return run.manifest.sources[name] | {"wanted": share.requested, "done": done, "failed": failed, "left": left}


def _counts(tally: Tally, requested: int, manifest: Manifest, bill: dict[str, Any] | None = None) -> dict[str, Any]:
    done, failed = len(tally.done), len(tally.failed)
    not_scored = bill["not_scored"] if bill else 0
    return {
        "wanted": requested,
        "done": done,
        "failed": failed,
        "not_scored": not_scored,
        "left": max(0, requested - done - failed - not_scored),
        "reasons": [{"reason": reason, "samples": count} for reason, count in tally.reasons.most_common()],
        "failures": [_failure(manifest, *key, reason) for key, reason in sorted(tally.failed.items())],
    }


def _failure(manifest: Manifest, question: str, number: int, reason: str) -> dict[str, Any]:
    """A failed sample; with its source if the run has several upstreams."""
    if not manifest.sources:
        return {"question": question, "sample": number, "reason": reason}
    sample, source = split_number(number)
    return {"question": question, "source": [*manifest.sources][source], "sample": sample, "reason": reason}


def _parted_status(folder: Path, price: float | None) -> dict[str, Any]:
    """Sum the `status` of all parts; `parts` lists the state of each."""
    run = PartedRun.read(folder)
    manifest = run.manifest
    per_question = manifest.n * max(1, len(manifest.sources))
    samples = _none()
    verifiers: dict[str, dict[str, Any]] = {}
    sources: dict[str, dict[str, Any]] = {}
    parts: list[dict[str, Any]] = []
    torn, on_demand = 0, False
    spent: dict[str, dict[str, dict[str, int]]] = {"samples": {}, "verifiers": {}}
    for part in run.nonempty_parts:
        path, state = _locate(run, part)
        part_status = status(path) if path else None
        if part_status is None:
            _add(samples, _none() | {"wanted": part.questions * per_question, "left": part.questions * per_question})
            for name, settings in manifest.sources.items():
                count = part.questions * manifest.n
                _add(sources.setdefault(name, _none() | settings), _none() | {"wanted": count, "left": count})
        else:
            _add(samples, part_status["samples"])
            torn += part_status["torn_bytes"]
            add_spent(spent, part_status["spent"])
            on_demand |= bool(part_status["bills"])
            for name, counts in part_status["verifiers"].items():
                _add(verifiers.setdefault(name, _none()), counts)
            for name, counts in part_status["sources"].items():
                _add(sources.setdefault(name, _none() | manifest.sources[name]), _none() | counts)
        parts.append(_line(run, part, state, part_status))
    for counts in verifiers.values():  # parts that a verifier has not begun count, too
        counts["left"] += samples["done"] - counts["wanted"]
        counts["wanted"] = samples["done"]
    bills = {name: entry.bill for name, entry in run_bills(folder, price).items()} if on_demand else {}
    for name, bill in bills.items():
        counts = verifiers[name]
        counts["not_scored"] = bill["not_scored"]
        counts["left"] = max(0, counts["wanted"] - counts["done"] - counts["failed"] - counts["not_scored"])
    return {
        "run": str(folder),
        "model": manifest.model,
        "sources": {
            name: manifest.sources[name] | {key: counts[key] for key in ("wanted", "done", "failed", "left")}
            for name, counts in sources.items()
        },
        "questions": sum(part.questions for part in run.parts),
        "n": manifest.n,
        "made_from": None,
        "samples": _as_status(samples),
        "verifiers": {name: _as_status(verifiers[name]) for name in sorted(verifiers)},
        "bills": bills,
        "spent": spent,
        "table": "made when it is read, from the tables of the parts" if not (folder / FILE).exists() else "there",
        "lost": "",
        "writer": None,
        "torn_bytes": torn,
        "parts": parts,
    }


def _locate(run: PartedRun, part: RunPart) -> tuple[Path | None, str]:
    """The folder of a part, and its state."""
    if (run.folder / part.name / MANIFEST).is_file():
        return run.folder / part.name, "sampled"
    if (working(run, part) / MANIFEST).is_file():
        return working(run, part), "begun"
    return None, "not begun"


def _line(run: PartedRun, part: RunPart, state: str, status: dict[str, Any] | None) -> dict[str, Any]:
    samples = status["samples"] if status else {"done": 0, "failed": 0}
    return {
        "part": part.name,
        "state": state,
        "questions": part.questions,
        "done": samples["done"],
        "failed": samples["failed"],
        "scored": {name: counts["done"] for name, counts in status["verifiers"].items()} if status else {},
        "writer": holder(run.folder / LOCKS, part.name),
    }


def _none() -> dict[str, Any]:
    return dict.fromkeys(COUNTS, 0) | {"reasons": Counter[str](), "failures": []}


def _add(total: dict[str, Any], part: dict[str, Any]) -> None:
    for name in COUNTS:
        total[name] += part.get(name, 0)
    for entry in part.get("reasons", []):
        total["reasons"][entry["reason"]] += entry["samples"]
    total["failures"] += part.get("failures", [])


def _as_status(counts: dict[str, Any]) -> dict[str, Any]:
    """Counts in the format of the status of a run."""
    reasons = [{"reason": reason, "samples": count} for reason, count in counts["reasons"].most_common()]
    failures = sorted(counts["failures"], key=lambda failure: (failure["question"], failure["sample"]))
    return {name: counts[name] for name in COUNTS} | {"reasons": reasons, "failures": failures}
