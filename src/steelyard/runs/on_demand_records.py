"""On-demand scoring, as a run records it: notes in the journal, and a separate state in the table.

{"kind": "note", "about": "frugal", "column": "prm", "rule": "exact", "plan": "plan.json", "plan_sha256": ".."}
{"kind": "note", "about": "frugal-round", "column": "prm", "read": 12, "seconds": 3.4}
{"kind": "note", "about": "frugal-end", "column": "prm"}

The first note begins a walk over the questions, which starts from the scores before it in the journal. From then on a
response of this column with neither score nor failure was *not requested*, which is different from a missing score: the
column `prm:scored` of the table says which responses were scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.runs.journal_lines import Lines, heads
from steelyard.runs.run_state import SUCCESS, Marks

BEGINS, ROUND, ENDS = "frugal", "frugal-round", "frugal-end"
SAME = ("rule", "plan_sha256", "answers")  # fields of the first note that identify a walk
Record = dict[str, Any]


def scored_on_demand(note: Record) -> str | None:
    """Return the column that this note starts to score on demand; None for any other note."""
    column = note.get("column")
    return column if note.get("about") == BEGINS and isinstance(column, str) else None


def scored_mask(samples: Iterable[Record], scores: Iterable[Record | None]) -> list[bool]:
    """Return which responses were scored: those with a score or a failure, and those without text to score."""
    return [
        record is not None or not has_text(sample.get("response"))
        for sample, record in zip(samples, scores, strict=True)
    ]


def has_text(response: str | None) -> bool:
    """Whether a response has text that a verifier could read."""
    return bool(response and response.strip())


@dataclass
class Walk:
    """The state of a walk over a column: its first note (None if there is no walk) and the scores before it."""

    begun: Record | None = None
    before: Marks = field(default_factory=Marks)
    ended: bool = False

    def continues(self, note: Record) -> bool:
        """Whether this note belongs to the same walk."""
        return self.begun is not None and all(self.begun.get(name) == note.get(name) for name in SAME)


def last_walk(journal: Path, column: str) -> Walk:
    """Return the last walk over a column."""
    walk, scored = Walk(), Marks()
    for _, head, record in heads(Lines(journal)):
        if head is not None:
            if head[0] in SUCCESS and head[1] == column:
                scored.add(head[2])
        elif isinstance(record, dict) and record.get("column") == column:
            if scored_on_demand(record):
                walk = Walk(record, deepcopy(scored))
            walk.ended = record.get("about") == ENDS or (walk.ended and record.get("about") != ROUND)
    return walk


def walk_notes(notes: Sequence[Record], column: str) -> list[Record]:
    """Return the notes of all walks over a column."""
    kinds = (BEGINS, ROUND, ENDS)
    return [note for note in notes if note.get("column") == column and note.get("about") in kinds]
