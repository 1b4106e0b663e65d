"""What is said of parts that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.engine.giving_out import Failed

NAMED = 5  # failures that are told in full
AGAIN = "mend these, and run the same command again"
SAME = f"the others are done and kept: {AGAIN}"


def told_failures(failed: Sequence[Failed[Any]], parts: int, what: str = "parts", fix: str = SAME) -> str:
    """What is said of parts that failed: every reason once, with the first part of which it is said."""
    reasons: dict[str, list[str]] = {}
    for each in failed:
        said = each.reason.removeprefix(f"{getattr(each.part, 'path', each.part.name)}: ")
        reason = said.removeprefix("the table: ")  # that of a part of a run
        reasons.setdefault(reason, []).append(each.part.name)
    told = [f"{names[0]}{_others(names)}: {reason}" for reason, names in reasons.items()]
    listed = "; ".join(told[:NAMED])
    more = f"; and {len(told) - NAMED} more" if len(told) > NAMED else ""
    return f"{len(failed):,} of {parts:,} {what} failed ({listed}{more}); {fix}"


def _others(names: Sequence[str]) -> str:
    return f" and {len(names) - 1:,} more" if len(names) > 1 else ""
