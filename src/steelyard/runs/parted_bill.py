"""The bills of a run, also of one in parts, where the counts of all parts are added."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from steelyard.runs.bill import Bill, check_price, columns_on_demand, counted
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.parts import is_parted_run
from steelyard.runs.run import Run


class Billed(NamedTuple):
    """How the last walk over a column began, and its bill; of parts that were begun otherwise, how the first was."""

    begun: dict[str, Any]
    bill: dict[str, Any]


def billed(folder: Path, price: float | None = None) -> dict[str, Billed]:
    """The bills of all columns of a run whose verifier was asked on demand; none for what is no run.

    That of a run in parts is finished where those of all parts are, by the same rule and plan. Nothing was asked of a
    part that was not begun.
    """
    check_price(price)
    folders = _folders(folder)
    columns: set[str] = set()
    for each in folders:
        with Run.open(each) as opened:
            columns |= columns_on_demand(opened)
    if not columns:
        return {}
    total: dict[str, Bill] = {}
    for each in folders:
        with Run.open(each) as opened:
            for column, bill in counted(opened, columns).items():
                total[column] = total[column] + bill if column in total else bill
    return {column: Billed(total[column].begun[0], total[column].told(price)) for column in sorted(columns)}


def _folders(folder: Path) -> list[Path]:
    """The runs that are the parts of a run, or the run itself."""
    if is_parted_run(folder):
        run = PartedRun.read(folder)
        return [folder / part.name for part in run.finished()]
    return [folder] if (folder / MANIFEST).is_file() else []
