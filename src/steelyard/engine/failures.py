"""The error message for parts that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.engine.scheduler import Failed

LISTED = 5  # failures that are described
AGAIN = "fix these, and run the same command again"
SAME = f"the others are done and kept: {AGAIN}"


def failure_summary(failed: Sequence[Failed[Any]], parts: int, what: str = "parts", fix: str = SAME) -> str:
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
    return f"{len(failed):,} of {parts:,} {what} failed ({listed}{more}); {advice}"


def _others(names: Sequence[str]) -> str:
    return f" and {len(names) - 1:,} more" if len(names) > 1 else ""
