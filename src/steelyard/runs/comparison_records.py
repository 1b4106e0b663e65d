"""Comparisons of two responses by a judge, as a run records them: one note per reply.

{"kind": "note", "about": "comparison", "column": "judge-pairwise", "question": "q", "first": 0, "second": 3, "p": 0.8}

`first` and `second` are the numbers of two samples in the order in which the judge saw them, and `p` is the probability
that the first is better: null if the reply is unreadable.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.runs.journal_lines import Lines, heads
from steelyard.runs.run_state import COMPARISON, NOTE


class Comparison(NamedTuple):
    """One reply of a judge."""

    question: str
    first: int
    second: int
    p: float | None

    def note(self, column: str) -> dict[str, Any]:
        """Its record in the journal."""
        return {"kind": NOTE, "about": COMPARISON, "column": column, **self._asdict()}


def read_comparisons(journal: Path, column: str) -> Iterator[Comparison]:
    """Yield the comparisons of a column in order of arrival; lazily, because a journal may be large."""
    for _, head, record in heads(Lines(journal)):
        if head is None and isinstance(record, dict) and record.get("about") == COMPARISON:
            question, first, second, p = (record.get(name) for name in Comparison._fields)
            if not (isinstance(question, str) and isinstance(first, int) and isinstance(second, int)):
                continue
            if record.get("column") == column and (p is None or (isinstance(p, int | float) and 0 <= p <= 1)):
                yield Comparison(question, first, second, p)
