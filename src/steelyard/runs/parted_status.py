"""The status of a run in parts: the sum over its parts, which are opened one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from steelyard.runs.derived_table import FILE
from steelyard.runs.lock import holder
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.part_folders import LOCKS, working
from steelyard.runs.parted_bill import run_bills
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.usage import add_spent

COUNTS = ("wanted", "done", "failed", "not_asked", "left")


def parted_status(folder: Path, status: Callable[[Path], dict[str, Any]], price: float | None = None) -> dict[str, Any]:
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
    for part in run.wanted:
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
        counts["not_asked"] = bill["not_asked"]
        counts["left"] = max(0, counts["wanted"] - counts["done"] - counts["failed"] - counts["not_asked"])
    return {
        "run": str(folder),
        "model": manifest.model,
        "sources": {name: {**manifest.sources[name], **_counted(counts)} for name, counts in sources.items()},
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


def _counted(counts: dict[str, Any]) -> dict[str, Any]:
    return {name: counts[name] for name in ("wanted", "done", "failed", "left")}


def _as_status(counts: dict[str, Any]) -> dict[str, Any]:
    """Counts in the format of the status of a run."""
    reasons = [{"reason": reason, "samples": count} for reason, count in counts["reasons"].most_common()]
    failures = sorted(counts["failures"], key=lambda failure: (failure["question"], failure["sample"]))
    return {name: counts[name] for name in COUNTS} | {"reasons": reasons, "failures": failures}
