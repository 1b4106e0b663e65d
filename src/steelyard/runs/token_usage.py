"""Token usage of requests: what servers report, as the journal stores it, and its sums.

The first sample of a reply, every score and every comparison has a field `usage`: the number of samples in the reply,
and its tokens if the server reports them. Runs of older versions lack the field, and their usage is unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.runs.journal_lines import Lines, heads, parsed_at
from steelyard.runs.run import JOURNAL, Run
from steelyard.runs.run_state import COMPARISON, SUCCESS

FIELD = "usage"
TOKENS = ("prompt_tokens", "completion_tokens")
LARGEST = 2**31


@dataclass(frozen=True)
class Usage:
    """Requests that returned samples (or scores), and their tokens, which were not reported for `uncounted` of them."""

    requests: int = 0
    samples: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))


def usage_field(reported: Mapping[str, Any] | None, samples: int = 1) -> dict[str, int]:
    """Return the field of a record, from the usage that a server reported.

    >>> usage_field({"prompt_tokens": 7, "completion_tokens": 30, "total_tokens": 37}, samples=8)
    {'samples': 8, 'prompt_tokens': 7, 'completion_tokens': 30}
    """
    counts: dict[str, Any] = {name: (reported or {}).get(name) for name in TOKENS}
    return {"samples": samples, **{name: count for name, count in counts.items() if _is_count(count)}}


def usage_from_field(field: Any) -> Usage:
    """Return the usage of one request.

    >>> usage_from_field({"samples": 8, "prompt_tokens": 7, "completion_tokens": 30})
    Usage(requests=1, samples=8, prompt_tokens=7, completion_tokens=30, uncounted=0)
    """
    counts = field if isinstance(field, dict) else {}
    samples, prompt, completion = (
        count if _is_count(count := counts.get(name)) else None for name in ("samples", *TOKENS)
    )
    counted = prompt is not None and completion is not None
    return Usage(1, samples or 0, prompt or 0, completion or 0, 0 if counted else 1)


def usage_by_part(run: Run) -> dict[tuple[str, str], dict[str, Usage]]:
    """Return the recorded usage per question, by ("sample", source) and ("score", verifier)."""
    path, total = run.folder / JOURNAL, defaultdict[tuple[str, str], dict[str, Usage]](lambda: defaultdict(Usage))
    for offset, head, body in heads(Lines(path)):
        if head is None and isinstance(body, dict) and body.get("about") == COMPARISON and FIELD in body:
            total["score", str(body.get("column"))][str(body.get("question"))] += usage_from_field(body[FIELD])
        if head is None or head[0] not in SUCCESS or not isinstance(body, bytes) or b'"usage":{' not in body:
            continue
        record = parsed_at(path, offset, body)
        if FIELD in record:
            name = head[1] if head[0] == "score" else record.get("source") or ""
            total[head[0], name][head[2][0]] += usage_from_field(record[FIELD])
    return {part: dict(questions) for part, questions in total.items()}


def spent(run: Run) -> dict[str, dict[str, dict[str, int]]]:
    """Return the recorded usage of every upstream (its name is empty if it is the only one) and of every verifier."""
    total = {part: vars(total_usage(questions)) for part, questions in sorted(usage_by_part(run).items())}
    return {
        "samples": {name: usage for (kind, name), usage in total.items() if kind == "sample"},
        "verifiers": {name: usage for (kind, name), usage in total.items() if kind == "score"},
    }


def add_spent(total: dict[str, dict[str, dict[str, int]]], part: dict[str, dict[str, dict[str, int]]]) -> None:
    """Add the usage of one part of a run to the total."""
    for kind, parts in part.items():
        for name, usage in parts.items():
            before = total[kind].get(name, vars(Usage()))
            total[kind][name] = vars(Usage(**before) + Usage(**usage))


def total_usage(parts: Mapping[str, Usage]) -> Usage:
    return sum(parts.values(), Usage())


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < LARGEST
