"""The places of a request's samples on the page: one number each, also where several upstreams have a sample 0."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from steelyard.sampling.ask.ask import place_of


class Places:
    """Numbers the samples of all upstreams; `samples` says how many each may give.

    Where all give as many, a stopping rule goes by these places; along a cascade one upstream comes after the other.

    >>> Places({"a": 2, "b": 2}).of(1, "a"), Places({"a": 2, "b": 1}).of(0, "b")
    (2, 2)
    """

    def __init__(self, samples: Mapping[str, int]) -> None:
        self._names = list(samples)
        self._alike = len(set(samples.values())) == 1
        self._first = dict(zip(samples, accumulate(samples.values(), initial=0), strict=False))
        self.total = sum(samples.values())

    def of(self, number: int, source: str | None) -> int:
        """The place of a sample."""
        name = source or ""
        return place_of(number, name, self._names) if self._alike else self._first[name] + number
