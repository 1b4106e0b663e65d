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
    told: dict[str, tuple[str, list[str]]] = {}  # by the reason without the path of its part
    for each in failed:
        path = str(getattr(each.part, "path", each.part.name))
        reason = each.reason.removeprefix(f"{path}: ").removeprefix("the table: ")  # that of a part of a run
        _, names = told.setdefault(reason.replace(path, "") if path else reason, (reason, []))
        names.append(each.part.name)
    every = [f"{names[0]}{_others(names)}: {reason}" for reason, names in told.values()]
    listed = "; ".join(every[:NAMED])
    more = f"; and {len(every) - NAMED} more" if len(every) > NAMED else ""
    kept = AGAIN if len(failed) == parts else fix
    return f"{len(failed):,} of {parts:,} {what} failed ({listed}{more}); {kept}"


def _others(names: Sequence[str]) -> str:
    return f" and {len(names) - 1:,} more" if len(names) > 1 else ""
