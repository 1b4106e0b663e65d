"""The ability of a method to show its accuracy over one offset: a score below b counts against its answer."""

from __future__ import annotations

from typing import Protocol, cast

from steelyard.voting.fitting.offsets.exact import Curve
from steelyard.voting.methods.base.method import Method


class Offset(Protocol):
    """A fitted method that takes one offset off the evidence of every score."""

    name: str
    rule: str  # what placed the offset
    offset_: float | None

    @property
    def b(self) -> float:
        """The score at which a weight turns negative."""

    @property
    def curve_(self) -> Curve:
        """Accuracy on the calibration set over the offset, in units of evidence."""

    def score_at(self, offset: float) -> float:
        """The score whose evidence is `offset`."""


NEEDED = ("rule", "offset_", "b", "curve_", "score_at")


def with_offset(method: Method) -> Offset | None:
    """The method as one with an offset, or None."""
    return cast(Offset, method) if all(hasattr(type(method), name) for name in NEEDED) else None
