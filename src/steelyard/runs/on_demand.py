"""A verifier that is asked on demand, as a run keeps it: notes in the journal, and a state of its own in the table.

{"kind": "note", "about": "frugal", "column": "prm", "rule": "exact", "plan": "plan.json", "plan_sha256": ".."}
{"kind": "note", "about": "frugal-round", "column": "prm", "read": 12, "seconds": 3.4}
{"kind": "note", "about": "frugal-end", "column": "prm"}

The first begins a walk over the questions; scores that stand before it in the journal are what the walk starts from.
From then on a response of this column with neither score nor failure was *not asked*, which is not the same as a
missing score: the column `prm:asked` of the table says which were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.runs.journal_lines import Lines
from steelyard.runs.records import heads
from steelyard.runs.state import SUCCESS, Marks

BEGINS, ROUND, ENDS = "frugal", "frugal-round", "frugal-end"
SAME = ("rule", "plan_sha256", "answers")  # of the first notes of walks that are one
SUFFIX = ":asked"
Record = dict[str, Any]


def asked_column(verifier: str) -> str:
    """The column that says which responses a verifier was asked for.

    >>> asked_column("prm")
    'prm:asked'
    """
    return verifier + SUFFIX


def is_asked_column(name: str) -> bool:
    """Whether a column says which responses a verifier was asked for."""
    return name.endswith(SUFFIX)


def asked_on_demand(note: Record) -> str | None:
    """The column whose verifier is asked on demand from this note on; None for any other note."""
    column = note.get("column")
    return column if note.get("about") == BEGINS and isinstance(column, str) else None


def were_asked(samples: Iterable[Record], said: Iterable[Record | None]) -> list[bool]:
    """Which responses were asked for: those with a score or a failure, and those without a text to be asked about."""
    return [
        record is not None or not has_text(sample.get("response")) for sample, record in zip(samples, said, strict=True)
    ]


def has_text(response: str | None) -> bool:
    """Whether there is something that a verifier could read."""
    return bool(response and response.strip())


@dataclass
class Walked:
    """How far the last walk over a column is: its first note (None: none was begun), and what was there before it."""

    begun: Record | None = None
    before: Marks = field(default_factory=Marks)
    ended: bool = False

    def goes_on(self, note: Record) -> bool:
        """Whether a walk by this note is the one that was begun."""
        return self.begun is not None and all(self.begun.get(name) == note.get(name) for name in SAME)


def walked(journal: Path, column: str) -> Walked:
    """Find the last walk over a column."""
    found, scored = Walked(), Marks()
    for _, head, record in heads(Lines(journal)):
        if head is not None:
            if head[0] in SUCCESS and head[1] == column:
                scored.add(head[2])
        elif isinstance(record, dict) and record.get("column") == column:
            if asked_on_demand(record):
                found = Walked(record, _copied(scored))
            found.ended = record.get("about") == ENDS or (found.ended and record.get("about") != ROUND)
    return found


def notes_about(notes: Sequence[Record], column: str) -> list[Record]:
    """The notes of all walks over a column."""
    about = (BEGINS, ROUND, ENDS)
    return [note for note in notes if note.get("column") == column and note.get("about") in about]


def _copied(marks: Marks) -> Marks:
    copy = Marks()
    copy.bits = dict(marks.bits)
    return copy
