"""The tokens that were really billed: sums of what the upstream counted, and never an invented zero."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from steelyard.llm.reply import MOST_TOKENS


def added(counts: Iterable[Any]) -> dict[str, Any] | None:
    """The sum of several usages, field by field and with the fields that only some have; None where there is none.

    >>> added([{"prompt_tokens": 7, "details": {"cached": 0}}, None, {"prompt_tokens": 7, "completion_tokens": 3}])
    {'prompt_tokens': 14, 'details': {'cached': 0}, 'completion_tokens': 3}
    """
    total: dict[str, Any] = {}
    for count in counts:
        if not isinstance(count, dict):
            continue
        for name, value in count.items():
            if isinstance(value, dict):
                inner = added([total.get(name), value])
                if inner is not None:
                    total[name] = inner
            elif type(value) is int and 0 <= value < MOST_TOKENS and not isinstance(total.get(name), dict):
                total[name] = total.get(name, 0) + value
    return total or None


def is_counted(usage: Any) -> bool:
    """Whether a reply says what it cost."""
    return isinstance(usage, dict) and type(usage.get("completion_tokens")) is int
