"""The tries of a request's samples at one upstream: what may have been billed is tried again within the limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from steelyard.gateway.limits.allowance import Allowance
from steelyard.gateway.upstream.source import TooDearError
from steelyard.sampling.llm.faults import BusyError, GoneError, RefusedError, StatusError, TryError

TOO_DEAR = "not retried: a retry could exceed the cost limit"
# A proxy sends these in place of a reply that it lost, or did not wait for: the server may have billed it.
LOST_BY_PROXY = frozenset({408, 502, 504, *range(520, 528)})


class BilledTries:
    """Tracks the samples, by their numbers, of which a try may have been billed."""

    def __init__(self, source: str, allowance: Allowance | None) -> None:
        self.source, self.allowance = source, allowance
        self._billed: set[int] = set()
        self._reason = "a sample is missing from the reply"  # why the last try failed

    @contextmanager
    def one(self, numbers: range) -> Iterator[None]:
        """Count a try of these samples, unless it fails in a way that no server bills."""
        before = self._billed.intersection(numbers)
        if self.allowance and before and not self.allowance.again(self.source, len(before)):
            raise TooDearError(f"{self._reason}; {TOO_DEAR}")
        self._billed.update(numbers)
        try:
            yield
        except TryError as error:
            self._reason = error.reason
            if is_unbilled(error):
                self._billed.difference_update(set(numbers) - before)
                if self.allowance:
                    self.allowance.give_back(self.source, len(before))
            raise

    def report(self, numbers: range, usage: Any) -> None:
        """Replace the worst case of a try with the usage that its reply reports, if it does."""
        if self.allowance:
            self.allowance.billed(self.source, len(numbers), usage)


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
