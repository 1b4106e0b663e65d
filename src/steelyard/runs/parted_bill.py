"""The bills of a run; for a run in parts, the counts of all parts are added."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from steelyard.runs.bill import Bill, check_price, columns_on_demand, counted
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.parts import is_parted_run
from steelyard.runs.run import Run


class Billed(NamedTuple):
    """The first note of the last walk over a column (of the first part), and its bill."""

    begun: dict[str, Any]
    bill: dict[str, Any]


def run_bills(folder: Path, price: float | None = None) -> dict[str, Billed]:
    """Return the bills of all columns of a run that were scored on demand; empty for a folder that is not a run.

    The bill of a run in parts is finished if those of all parts are, with the same rule and plan. A part
    without a walk counts as not asked.
    """
    check_price(price)
    folders = _folders(folder)
    columns: set[str] = set()
    for path in folders:
        with Run.open(path) as opened:
            columns |= columns_on_demand(opened)
    if not columns:
        return {}
    total: dict[str, Bill] = {}
    for path in folders:
        with Run.open(path) as opened:
            for column, bill in counted(opened, columns).items():
                total[column] = total[column] + bill if column in total else bill
    return {column: Billed(total[column].begun[0], total[column].as_dict(price)) for column in sorted(columns)}


def _folders(folder: Path) -> list[Path]:
    """The parts of a run in parts, or the run itself."""
    if is_parted_run(folder):
        run = PartedRun.read(folder)
        return [folder / part.name for part in run.finished()]
    return [folder] if (folder / MANIFEST).is_file() else []
