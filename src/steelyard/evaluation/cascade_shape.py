"""The shape of the cascades that are tried: some cheap sources, some more, a strong one, and others after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

Group = tuple[int, ...]  # sources, by their number
Gated = tuple[tuple[Group, float, float], ...]  # sources, low and high of every step


@dataclass(frozen=True)
class Shape:
    """Which sources each step asks, and between which confidences.

    >>> Shape(strong=2, first=(0, 1), high=0.8).gated()
    (((0, 1), 0.0, 1.0), ((2,), 0.0, 0.8))
    """

    strong: int
    first: Group = ()  # always asked
    second: Group = ()  # asked from `low` to `middle`
    low: float = 0.0
    middle: float = 1.0
    high: float = 1.0  # the strong one is asked below it
    last: Group = ()  # asked below `below`
    below: float = 0.5

    def gated(self) -> Gated:
        """The steps that ask anyone."""
        second = tuple(s for s in self.second if s not in self.first)
        last = tuple(s for s in self.last if s not in (*self.first, self.strong))
        steps: list[tuple[Group, float, float]] = []
        if self.first:
            steps.append((self.first, 0.0, 1.0))
            if second:
                steps.append((second, self.low, self.middle))
        steps.append(((self.strong,), 0.0, self.high if self.first else 1.0))
        if last:
            steps.append((last, 0.0, self.below))
        return tuple(steps)

    def having(self, **changed: float | Group) -> Shape:
        """The shape with something else."""
        return replace(self, **changed)  # type: ignore[arg-type]


def groups(sources: Iterable[int], most: int) -> Iterator[Group]:
    """All groups of so many sources at most, none included.

    >>> list(groups([1, 2], 2))
    [(), (1,), (2,), (1, 2)]
    """
    listed = list(sources)
    for size in range(most + 1):
        yield from combinations(listed, size)
