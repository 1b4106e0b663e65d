"""The tries of a request's samples at one upstream: what may have been billed is tried again within the limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from steelyard.gateway.allowance import Allowance
from steelyard.gateway.source import TooDearError
from steelyard.llm.faults import BusyError, GoneError, RefusedError, TryError


class BilledTries:
    """Knows the samples, by their numbers, of which a try may have been billed."""

    def __init__(self, source: str, allowance: Allowance | None) -> None:
        self.source, self.allowance = source, allowance
        self._billed: set[int] = set()
        self._why = "a sample was not given"  # why the last try that failed did

    @contextmanager
    def one(self, numbers: range) -> Iterator[None]:
        """Count a try of these samples; nobody is billed for one that a busy upstream, or none, has not taken."""
        before = self._billed.intersection(numbers)
        if self.allowance and before and not self.allowance.again(self.source, len(before)):
            raise TooDearError(f"{self._why}; what the request may cost at most leaves no other try")
        self._billed.update(numbers)
        try:
            yield
        except TryError as error:
            self._why = error.reason
            if isinstance(error, BusyError | GoneError | RefusedError):
                self._billed.difference_update(set(numbers) - before)
                if self.allowance:
                    self.allowance.give_back(self.source, len(before))
            raise
