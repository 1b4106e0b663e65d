"""What a cascade was learned from: the prices, and the questions, so that it is replayed on others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from math import isfinite
from typing import Any

MILLION = 1e6
DIGITS = 8  # of the digest that stands for a question


@dataclass(frozen=True)
class CascadeOrigin:
    """The prices per million tokens, or per response where nothing counted tokens, and digests of the questions.

    >>> CascadeOrigin({"gpt": 10.0}).cost("gpt", tokens=500, samples=1)
    0.005
    """

    prices: Mapping[str, float] = field(default_factory=dict)  # by source; empty: a column of costs was read
    per_response: bool = False
    questions: tuple[str, ...] = ()  # empty: the plan does not say

    def __post_init__(self) -> None:
        if not isinstance(self.per_response, bool) or not all(map(_price, self.prices.items())):
            raise ValueError("prices that cannot be")
        if not all(isinstance(each, str) for each in self.questions):
            raise ValueError("questions that cannot be")

    def cost(self, source: str, *, tokens: float, samples: int) -> float | None:
        """What some samples of a source cost; None where the plan has no price for it."""
        if source not in self.prices:
            return None
        return self.prices[source] * (samples if self.per_response else tokens / MILLION)

    def learned_on(self, names: Iterable[object]) -> list[bool]:
        """Which of these questions it was learned on."""
        known = set(self.questions)
        return [digest in known for digest in digests(names)]

    def plain(self) -> dict[str, Any]:
        """As a plan writes it; what is not known is left out."""
        found: dict[str, Any] = {}
        if self.prices:
            found["prices"] = dict(self.prices)
        if self.per_response:
            found["per_response"] = True
        if self.questions:
            found["learned_on"] = list(self.questions)
        return found

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> CascadeOrigin:
        """Make it again; plans of before have none of this."""
        prices, questions = plain.get("prices", {}), plain.get("learned_on", [])
        if not isinstance(questions, list):
            raise TypeError("questions")
        return cls(dict(prices), plain.get("per_response", False), tuple(questions))


def digests(names: Iterable[object]) -> tuple[str, ...]:
    """What stands for some questions in a plan, which need not show their names.

    >>> digests(["q0"])
    ('341c0a3e',)
    """
    return tuple(sha256(str(name).encode("utf-8", "replace")).hexdigest()[:DIGITS] for name in names)


def _price(named: tuple[Any, Any]) -> bool:
    name, price = named
    return isinstance(name, str) and type(price) in (int, float) and isfinite(price) and price >= 0


UNKNOWN = CascadeOrigin()  # of a cascade that nobody learned, and in plans of before
