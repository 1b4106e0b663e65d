"""What workers warn of, told once for all parts: the figures of a warning differ from part to part, not its words."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from steelyard.foundation.errors import SteelyardNote, SteelyardWarning

FIGURES = re.compile(r"[\d.,]*\d|'[^']*'")


@contextmanager
def caught(*, notes: bool = False) -> Iterator[list[str]]:
    """Keep the warnings of this block in a list, filled when the block ends; notes are left out unless asked for."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        yield said
    said += [str(each.message) for each in records if _matters(each.category, notes)]


def _matters(category: type[Warning], notes: bool) -> bool:
    return issubclass(category, SteelyardWarning) and (notes or not issubclass(category, SteelyardNote))


class ToldOnce:
    """Collects the warnings of parts; the first of its kind is told with the name of its part."""

    def __init__(self, what: str = "parts") -> None:
        self.what = what
        self.first: dict[str, str] = {}
        self.times: dict[str, int] = {}

    def hear(self, part: str, said: Iterable[str]) -> None:
        """Take the warnings of one part."""
        for text in said:
            kind = FIGURES.sub("#", text)
            self.first.setdefault(kind, f"{part}: {text}")
            self.times[kind] = self.times.get(kind, 0) + 1

    def tell(self) -> None:
        """Warn of everything that was heard."""
        for kind, text in self.first.items():
            more = self.times[kind] - 1
            also = f" (and {more:,} more {self.what} say so)" if more else ""
            warnings.warn(text + also, SteelyardWarning, stacklevel=2)
