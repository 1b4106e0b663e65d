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
    """Add a column per grader, and say what it became; the only grader that labels is `correct`."""
    names = list(dict.fromkeys(name for each in marks for name, value in each.items() if value is not None))
    labels = [name for name in names if all(each.get(name) in (None, 0, 1) for each in marks)]
    scores = [name for name in names if name not in labels]
    for name in names:
        for row, each in zip(rows, marks, strict=True):
            value = each.get(name)
            row[_column(name, who)] = value if value is None else bool(value) if name in labels else float(value)
    return said(_labelled(rows, labels, who), f"scores from {listing(scores)}" if scores else "")


def _labelled(rows: Sequence[Row], labels: Sequence[str], who: str) -> str:
    """Make the only labels `correct`: a response that is missing is not, and one without a label leaves them aside."""
    if not labels:
        return ""
    if len(labels) > 1:
        columns = [_column(name, who) for name in labels]
        return f"several {who}s label ({listing(columns)}; rename the one you want to correct)"
    column = _column(labels[0], who)
    values = [False if row.get("response") is None else row[column] for row in rows]
    unmarked = sum(value is None for value in values)
    if unmarked:
        return f"{who} {labels[0]} not used as correct, because it left {unmarked:,} responses unscored"
    for row, value in zip(rows, values, strict=True):
        del row[column]
        row["correct"] = value
    return f"correct from {who} {labels[0]}"


def _column(name: str, who: str) -> str:
    """The name of a grader's column, which is none of ours."""
    return f"{who} {name}" if name in KINDS else name
