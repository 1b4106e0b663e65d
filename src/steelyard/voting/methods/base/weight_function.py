"""What a score is worth to a fitted method: its weight over the scores, where it is zero, and a picture of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.charts.chart_style import check_charts, reserve_colour
from steelyard.foundation.charts.figures import figure
from steelyard.foundation.charts.weight_lines import weight_lines
from steelyard.foundation.errors import SettingError
from steelyard.voting.fitting.offset_curve import Curve

if TYPE_CHECKING:
    import altair as alt

NEEDED = ("rule", "offset_", "b", "curve_", "score_at")  # by `Offset`
POINTS = 201


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


def with_offset(method: object) -> Offset | None:
    """The method as one with an offset, or None."""
    return cast(Offset, method) if all(hasattr(type(method), name) for name in NEEDED) else None


@dataclass(frozen=True)
class WeightFunction:
    """The weight of a response over its score; `line` is empty if it does not depend on the score alone."""

    line: list[dict[str, Any]]  # score, weight
    crossings: list[float]  # scores at which the weight changes its sign, rising


def weight_function(method: object, frame: tuple[float, float]) -> WeightFunction:
    """Trace the weight of a fitted method over these scores.

    >>> import steelyard as sy
    >>> weight_function(sy.VanillaVote(), (0.0, 1.0)).line[-1]
    {'score': 1.0, 'weight': 1.0}
    """
    weight: Callable[[float], float] | None = getattr(method, "weight", None)
    if weight is None:
        return WeightFunction([], [])
    scores = np.linspace(*frame, POINTS)
    values = np.array([weight(float(score)) for score in scores])
    line = [{"score": float(p), "weight": float(w)} for p, w in zip(scores, values, strict=True)]
    return WeightFunction(line, _crossings(method, scores, values))


def _crossings(method: object, scores: NDArray[np.float64], values: NDArray[np.float64]) -> list[float]:
    """The fitted b where there is one, else where the line passes through zero."""
    vote = with_offset(method)
    if vote is not None:
        return [vote.b] if 0 < vote.b < 1 and len(set(values.tolist())) > 1 else []
    turn = np.flatnonzero(values[:-1] * values[1:] < 0)
    part = values[turn] / (values[turn] - values[turn + 1])
    return [float(p) for p in scores[turn] + part * (scores[turn + 1] - scores[turn])]


def plot_weights(
    method: object, name: str, colour: str | None, *, low: float, high: float, subtitle: str
) -> alt.LayerChart:
    """Draw the weight of a response by its score."""
    check_charts()
    if not 0 <= low < high <= 1:
        raise SettingError(f"low must be below high, both in [0, 1], not {low:g} and {high:g}")
    traced = weight_function(method, (low, high))
    if not traced.line:
        raise SettingError(f"{name} has no weight by score alone: plot a Ballot, which shows the weight of each answer")
    spec = weight_lines(
        traced.line, traced.crossings, (low, high), colour or reserve_colour(name), title="score of the verifier"
    )
    return figure(spec, title=f"What a score is worth to {name}", subtitle=subtitle)
