"""Where a run in parts stands: what its parts hold, added up. One part is opened at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from steelyard.runs.derived_table import FILE
from steelyard.runs.lock import holder
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.part_folders import LOCKS, working
from steelyard.runs.parted_bill import billed
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.usage import add_spent

COUNTS = ("wanted", "done", "failed", "not_asked", "left")


def parted_status(folder: Path, status: Callable[[Path], dict[str, Any]], price: float | None = None) -> dict[str, Any]:
    """Add up what `status` says of each part; `parts` says where each stands."""
    run = PartedRun.read(folder)
    manifest = run.manifest
    each_wanted = manifest.n * max(1, len(manifest.sources))
    samples = _none()
    verifiers: dict[str, dict[str, Any]] = {}
    sources: dict[str, dict[str, Any]] = {}
    parts: list[dict[str, Any]] = []
    torn, on_demand = 0, False
    spent: dict[str, dict[str, dict[str, int]]] = {"samples": {}, "verifiers": {}}
    for part in run.wanted:
        place, state = _place(run, part)
        found = status(place) if place else None
        if found is None:
            _add(samples, _none() | {"wanted": part.questions * each_wanted, "left": part.questions * each_wanted})
            for name, about in manifest.sources.items():
                wanted = part.questions * manifest.n
                _add(sources.setdefault(name, _none() | about), _none() | {"wanted": wanted, "left": wanted})
        else:
            _add(samples, found["samples"])
            torn += found["torn_bytes"]
            add_spent(spent, found["spent"])
            on_demand |= bool(found["bills"])
            for name, counts in found["verifiers"].items():
                _add(verifiers.setdefault(name, _none()), counts)
            for name, counts in found["sources"].items():
                _add(sources.setdefault(name, _none() | manifest.sources[name]), _none() | counts)
        parts.append(_line(run, part, state, found))
    for counts in verifiers.values():  # a part that a verifier has not begun is wanted, too
        counts["left"] += samples["done"] - counts["wanted"]
        counts["wanted"] = samples["done"]
    bills = {name: each.bill for name, each in billed(folder, price).items()} if on_demand else {}
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
        "samples": _told(samples),
        "verifiers": {name: _told(verifiers[name]) for name in sorted(verifiers)},
        "bills": bills,
        "spent": spent,
        "table": "made when it is read, from the tables of the parts" if not (folder / FILE).exists() else "there",
        "lost": "",
        "writer": None,
        "torn_bytes": torn,
        "parts": parts,
    }


def _place(run: PartedRun, part: RunPart) -> tuple[Path | None, str]:
    """Where a part lies, and how far it is."""
    if (run.folder / part.name / MANIFEST).is_file():
        return run.folder / part.name, "sampled"
    if (working(run, part) / MANIFEST).is_file():
        return working(run, part), "begun"
    return None, "not begun"


def _line(run: PartedRun, part: RunPart, state: str, found: dict[str, Any] | None) -> dict[str, Any]:
    samples = found["samples"] if found else {"done": 0, "failed": 0}
    return {
        "part": part.name,
        "state": state,
        "questions": part.questions,
        "done": samples["done"],
        "failed": samples["failed"],
        "scored": {name: counts["done"] for name, counts in found["verifiers"].items()} if found else {},
        "writer": holder(run.folder / LOCKS, part.name),
    }


def _none() -> dict[str, Any]:
    return dict.fromkeys(COUNTS, 0) | {"reasons": Counter[str](), "failures": []}


def _add(total: dict[str, Any], part: dict[str, Any]) -> None:
    for name in COUNTS:
        total[name] += part.get(name, 0)
    for each in part.get("reasons", []):
        total["reasons"][each["reason"]] += each["samples"]
    total["failures"] += part.get("failures", [])


def _counted(counts: dict[str, Any]) -> dict[str, Any]:
    return {name: counts[name] for name in ("wanted", "done", "failed", "left")}


def _told(counts: dict[str, Any]) -> dict[str, Any]:
    """Counts as the status of a run has them."""
    reasons = [{"reason": reason, "samples": count} for reason, count in counts["reasons"].most_common()]
    failures = sorted(counts["failures"], key=lambda each: (each["question"], each["sample"]))
    return {name: counts[name] for name in COUNTS} | {"reasons": reasons, "failures": failures}
