"""What the limits of a request leave for tries beside those that were counted before anything was asked.

Counted are one try of every sample, and all tries of every score. A failed try may have been billed all the same where
its reply was lost or unreadable, but not where the upstream was busy, gone, or answered with an error; another one is
made only where the limits leave room for it. A sample that was shorter than it might have been leaves some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Bill(NamedTuple):
    """Tokens, and what they cost; infinite where there is no limit."""

    tokens: float
    cost: float


class Allowance:
    """What one request may still use; `sample` is what a sample of each upstream takes at worst, `price` its token."""

    def __init__(self, left: Bill, sample: Mapping[str, Bill], price: Mapping[str, float]) -> None:
        self.left, self.sample, self.price = left, sample, price

    def again(self, source: str, count: int = 1) -> bool:
        """Take what so many samples of an upstream need at worst; False where that is not left.

        >>> rest = Allowance(Bill(150, float("inf")), {"a": Bill(100, 0.0)}, {"a": 0.0})
        >>> rest.again("a"), rest.again("a")
        (True, False)
        """
        each = self.sample[source]
        rest = Bill(self.left.tokens - count * each.tokens, self.left.cost - count * each.cost)
        if min(rest) < 0:
            return False
        self.left = rest
        return True

    def give_back(self, source: str, count: int = 1) -> None:
        """Give back what was taken for samples that nobody bills."""
        each = self.sample[source]
        self.left = Bill(self.left.tokens + count * each.tokens, self.left.cost + count * each.cost)

    def billed(self, source: str, count: int, usage: Any) -> None:
        """Put what so many samples have really taken in the place of the worst case, where the upstream says it.

        What was spared of the cost goes by the share of the tokens: the prompt stays at its worst.
        """
        tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
        if type(tokens) is int:
            each = self.sample[source]
            spared = max(0.0, count * each.tokens - tokens)
            self.left = Bill(self.left.tokens + spared, self.left.cost + spared * self.price[source])
