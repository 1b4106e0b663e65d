"""Failures and warnings of many workers, as one message each.

The figures of a warning differ from part to part, but not its words; each warning is given once.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from steelyard.engine.scheduler import Failed
from steelyard.foundation.errors import SteelyardNote, SteelyardWarning

LISTED = 5  # failures that are described
AGAIN = "fix these, and run the same command again"
SAME = f"the others are done and kept: {AGAIN}"
FIGURES = re.compile(r"[\d.,]*\d|'[^']*'")


def failure_summary(failed: Sequence[Failed[Any]], parts: int, unit: str = "parts", fix: str = SAME) -> str:
    """Describe failed parts: every reason once, with the first part that failed for it."""
    reasons: dict[str, tuple[str, list[str]]] = {}  # by the reason without the path of its part
    for failure in failed:
        path = str(getattr(failure.part, "path", failure.part.name))
        reason = failure.reason.removeprefix(f"{path}: ").removeprefix("the table: ")  # that of a part of a run
        _, names = reasons.setdefault(reason.replace(path, "") if path else reason, (reason, []))
        names.append(failure.part.name)
    lines = [f"{names[0]}{_others(names)}: {reason}" for reason, names in reasons.values()]
    listed = "; ".join(lines[:LISTED])
    more = f"; and {len(lines) - LISTED} more" if len(lines) > LISTED else ""
    advice = AGAIN if len(failed) == parts else fix
    return f"{len(failed):,} of {parts:,} {unit} failed ({listed}{more}); {advice}"


def _others(names: Sequence[str]) -> str:
    return f" and {len(names) - 1:,} more" if len(names) > 1 else ""


@contextmanager
def captured_warnings(*, notes: bool = False) -> Iterator[list[str]]:
    """Collect the warnings of this block in a list, filled when the block ends; with `notes` also the notes."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        yield messages
    messages += [str(record.message) for record in records if _is_reported(record.category, notes)]


def _is_reported(category: type[Warning], notes: bool) -> bool:
    return issubclass(category, SteelyardWarning) and (notes or not issubclass(category, SteelyardNote))


class WarningSummary:
    """Collects the warnings of parts; of each kind, the first is given with the name of its part."""

    def __init__(self, unit: str = "parts") -> None:
        self.unit = unit
        self.first: dict[str, str] = {}
        self.times: dict[str, int] = {}

    def add(self, part: str, messages: Iterable[str]) -> None:
        for text in messages:
            kind = FIGURES.sub("#", text)
            self.first.setdefault(kind, f"{part}: {text}")
            self.times[kind] = self.times.get(kind, 0) + 1

    def warn(self) -> None:
        """Give each warning once."""
        for kind, text in self.first.items():
            more = self.times[kind] - 1
            also = f" (and {more:,} more {self.unit} say so)" if more else ""
            warnings.warn(text + also, SteelyardWarning, stacklevel=2)
