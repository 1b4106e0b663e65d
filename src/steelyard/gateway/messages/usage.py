"""The tokens that were really billed: sums of what the upstream counted, and never an invented zero.

llama.cpp counts the tokens of one choice, whatever `n` is: there the log-probabilities of the choices are counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from steelyard.sampling.llm.reply import MOST_TOKENS, Reply


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


def of_all_choices(usage: Any, reply: Reply, *, believed: bool) -> Any:
    """The usage of a reply with several choices; None where only some of them were counted and nobody knows the others.

    `believed`: whether the upstream was found to count all.

    >>> from steelyard.sampling.llm.reply import Choice
    >>> reply = Reply(None, {i: Choice("a b", "stop", 50, -0.1) for i in range(2)}, {}, short=False, usage=False)
    >>> of_all_choices({"prompt_tokens": 7, "completion_tokens": 50, "total_tokens": 57}, reply, believed=False)
    {'prompt_tokens': 7, 'completion_tokens': 100, 'total_tokens': 107}
    """
    tokens = [choice.tokens for choice in reply.good.values() if choice.tokens is not None]
    known = len(tokens) == len(reply.good)
    if not is_counted(usage) or (reply.usage and (known or believed)):
        return usage
    if not known:
        return None
    total = sum(tokens)
    prompt = {"total_tokens": usage["prompt_tokens"] + total} if type(usage.get("prompt_tokens")) is int else {}
    return {**usage, "completion_tokens": total, **prompt}
