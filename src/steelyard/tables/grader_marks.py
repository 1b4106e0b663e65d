"""What graders said about responses -> columns: labels where all they say is correct or not, scores otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from steelyard.tables.layout_rows import KINDS, Row, listing, said

Marks = dict[str, bool | float | None]  # by grader
LETTERS: dict[str, bool | float | None] = {"C": True, "I": False, "N": False, "P": 0.5}


def mark(value: Any) -> bool | float | None:
    """One mark as a label or a number; None where there is none.

    >>> mark("C"), mark("N"), mark("P"), mark(0.25), mark(float("nan")), mark(["C"])
    (True, False, 0.5, 0.25, None, None)
    """
    if isinstance(value, str):
        return LETTERS.get(value.strip(), {"true": True, "false": False}.get(value.strip().lower()))
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    return None


def add_marks(rows: Sequence[Row], marks: Sequence[Marks], who: str) -> str:
    """Add a column per grader, and say what it became.

    The only grader that labels is `correct`, if it says so in letters, or if there is no other grader: among several
    numbers, one that is 0 or 1 may be about the format of a response.
    """
    names = list(dict.fromkeys(name for each in marks for name, value in each.items() if value is not None))
    labels = [name for name in names if all(each.get(name) in (None, 0, 1) for each in marks)]
    scores = [name for name in names if name not in labels]
    sure = [name for name in labels if not any(isinstance(each.get(name), float) for each in marks)]
    for name in names:
        for row, each in zip(rows, marks, strict=True):
            value = each.get(name)
            if name in labels and row.get("response") is None:
                value = False  # what was never said is not correct
            row[_column(name, who)] = value if value is None else bool(value) if name in labels else float(value)
    chosen = labels if len(names) == 1 else sure if len(labels) == 1 else []
    spoken = _labelled(rows, chosen[0], who) if chosen else _open(labels, who)
    return said(spoken, f"scores from {listing(scores)}" if scores else "")


def _open(labels: Sequence[str], who: str) -> str:
    """Say which columns could be the labels."""
    columns = [_column(name, who) for name in labels]
    words = f"{who}s {listing(columns)} say" if len(columns) > 1 else f"{who} {''.join(columns)} says"
    return f"{words} yes or no (rename the one that labels to correct)" if columns else ""


def _labelled(rows: Sequence[Row], name: str, who: str) -> str:
    """Make the labels of a grader `correct`, unless it left a response without one."""
    column = _column(name, who)
    unmarked = sum(row[column] is None for row in rows)
    if unmarked:
        return f"{who} {name} not used as correct, because it left {unmarked:,} responses unscored"
    for row in rows:
        row["correct"] = row.pop(column)
    return f"correct from {who} {name}"


def _column(name: str, who: str) -> str:
    """The name of a grader's column, which is none of ours."""
    return f"{who} {name}" if name in KINDS else name
