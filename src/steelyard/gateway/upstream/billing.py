"""Billed tokens: the sum of what upstreams report, and retries of requests that may already have been billed.

Unknown usage is never counted as zero. llama.cpp reports the tokens of one choice, whatever `n` is; there, the
log-probabilities of the choices are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from steelyard.gateway.limits.request_budget import Allowance
from steelyard.gateway.upstream.source import OverBudgetError
from steelyard.sampling.llm.completion_json import MOST_TOKENS, Reply
from steelyard.sampling.llm.faults import BusyError, GoneError, RefusedError, StatusError, TryError

OVER_BUDGET = "not retried: a retry could exceed the cost limit"
# A proxy sends these in place of a reply that it lost, or did not wait for: the server may have billed it.
LOST_BY_PROXY = frozenset({408, 502, 504, *range(520, 528)})


class BilledTries:
    """Tracks the samples, by their numbers, of which a try may have been billed."""

    def __init__(self, source: str, allowance: Allowance | None) -> None:
        self.source, self.allowance = source, allowance
        self._billed: set[int] = set()
        self._reason = "a sample is missing from the reply"  # why the last try failed

    @contextmanager
    def attempt(self, numbers: range) -> Iterator[None]:
        """Count a try of these samples, unless it fails in a way that is never billed."""
        before = self._billed.intersection(numbers)
        if self.allowance and before and not self.allowance.reserve(self.source, len(before)):
            raise OverBudgetError(f"{self._reason}; {OVER_BUDGET}")
        self._billed.update(numbers)
        try:
            yield
        except TryError as error:
            self._reason = error.reason
            if is_unbilled(error):
                self._billed.difference_update(set(numbers) - before)
                if self.allowance:
                    self.allowance.release(self.source, len(before))
            raise

    def report(self, numbers: range, usage: Any) -> None:
        """Replace the worst case of a try with the usage that its reply reports, if it does."""
        if self.allowance:
            self.allowance.record_usage(self.source, len(numbers), usage)


def is_unbilled(error: TryError) -> bool:
    """Whether no server bills a try that failed so: it was refused, never arrived, or ended in an error reply.

    >>> [is_unbilled(StatusError("", status)) for status in (500, 504, 408, 201)]
    [True, False, False, False]
    >>> is_unbilled(TryError("the connection broke"))
    False
    """
    if isinstance(error, StatusError):
        return error.status >= 400 and error.status not in LOST_BY_PROXY
    return isinstance(error, BusyError | GoneError | RefusedError)


def total_usage(counts: Iterable[Any]) -> dict[str, Any] | None:
    """The sum of several usages, field by field, also of fields that only some have; None if there is none.

    >>> total_usage([{"prompt_tokens": 7, "details": {"cached": 0}}, None, {"prompt_tokens": 7, "total_tokens": 9}])
    {'prompt_tokens': 14, 'details': {'cached': 0}, 'total_tokens': 9}
    """
    total: dict[str, Any] = {}
    for count in counts:
        if not isinstance(count, dict):
            continue
        for name, value in count.items():
            if isinstance(value, dict):
                inner = total_usage([total.get(name), value])
                if inner is not None:
                    total[name] = inner
            elif type(value) is int and 0 <= value < MOST_TOKENS and not isinstance(total.get(name), dict):
                total[name] = total.get(name, 0) + value
    return total or None


def has_usage(usage: Any) -> bool:
    """Whether a usage reports its tokens."""
    return isinstance(usage, dict) and type(usage.get("completion_tokens")) is int


def usage_of_all_choices(usage: Any, reply: Reply, *, believed: bool) -> Any:
    """The usage of a reply with several choices; None if only some of them were counted.

    `believed`: whether the upstream is known to count all choices.

    >>> from steelyard.sampling.llm.completion_json import Choice
    >>> reply = Reply(None, {i: Choice("a b", "stop", 50, -0.1) for i in range(2)}, {}, short=False, usage=False)
    >>> usage_of_all_choices({"prompt_tokens": 7, "completion_tokens": 50, "total_tokens": 57}, reply, believed=False)
    {'prompt_tokens': 7, 'completion_tokens': 100, 'total_tokens': 107}
    """
    tokens = [choice.tokens for choice in reply.good.values() if choice.tokens is not None]
    all_counted = len(tokens) == len(reply.good)
    if not has_usage(usage) or (reply.usage and (all_counted or believed)):
        return usage
    if not all_counted:
        return None
    total = sum(tokens)
    prompt = {"total_tokens": usage["prompt_tokens"] + total} if type(usage.get("prompt_tokens")) is int else {}
    return {**usage, "completion_tokens": total, **prompt}
