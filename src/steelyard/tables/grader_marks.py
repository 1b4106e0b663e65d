"""Marks of graders -> columns: labels if a grader marks only correct or incorrect, scores otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from steelyard.tables.layout_rows import KINDS, Row, join_notes, listing

Marks = dict[str, bool | float | None]  # by grader
LETTERS: dict[str, bool | float | None] = {"C": True, "I": False, "N": False, "P": 0.5}


def mark(value: Any) -> bool | float | None:
    """Convert one mark to a label or a number; None if it is neither.

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


def add_marks(rows: Sequence[Row], marks: Sequence[Marks], grader: str) -> str:
    """Add a column per grader to the rows, and return a note on the columns.

    The only grader with labels becomes `correct` if it marks with letters or is the only grader: of several numeric
    graders, one with 0 and 1 may mark the format of a response.
    """
    names = list(dict.fromkeys(name for grades in marks for name, value in grades.items() if value is not None))
    labels = [name for name in names if all(grades.get(name) in (None, 0, 1) for grades in marks)]
    scores = [name for name in names if name not in labels]
    explicit = [name for name in labels if not any(isinstance(grades.get(name), float) for grades in marks)]
    for name in names:
        for row, grades in zip(rows, marks, strict=True):
            value = grades.get(name)
            if name in labels and row.get("response") is None:
                value = False  # a missing response is not correct
            row[_column(name, grader)] = value if value is None else bool(value) if name in labels else float(value)
    chosen = labels if len(names) == 1 else explicit if len(labels) == 1 else []
    label_note = _use_as_labels(rows, chosen[0], grader) if chosen else _candidates_note(labels, grader)
    return join_notes(label_note, f"scores from {listing(scores)}" if scores else "")


def _candidates_note(labels: Sequence[str], grader: str) -> str:
    """Return a note on the columns that could be the labels."""
    columns = [_column(name, grader) for name in labels]
    subject = f"{grader}s {listing(columns)} say" if len(columns) > 1 else f"{grader} {''.join(columns)} says"
    return f"{subject} yes or no (rename the one that labels to correct)" if columns else ""


def _use_as_labels(rows: Sequence[Row], name: str, grader: str) -> str:
    """Use the labels of a grader as `correct`, unless a response has none."""
    column = _column(name, grader)
    unmarked = sum(row[column] is None for row in rows)
    if unmarked:
        return f"{grader} {name} not used as correct, because it left {unmarked:,} responses unscored"
    for row in rows:
        row["correct"] = row.pop(column)
    return f"correct from {grader} {name}"


def _column(name: str, grader: str) -> str:
    """Return the column name of a grader, different from the standard names."""
    return f"{grader} {name}" if name in KINDS else name
