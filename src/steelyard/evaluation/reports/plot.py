"""One picture of one thing, for a notebook. It stands here and not on the things: they know nothing of charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.evaluation.accuracy_curves import Curves
from steelyard.evaluation.reports.chart_style import HEIGHT, WIDTH, check_charts, colour, colour_of, styled
from steelyard.foundation.errors import SettingError
from steelyard.voting.methods.base.offset_vote import OffsetVote

if TYPE_CHECKING:
    import altair as alt


def plot(subject: Curves | OffsetVote) -> alt.LayerChart:
    """Draw curves (accuracy over samples), or what a fitted `logit` or `linear` vote learned (accuracy over b).

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> chart = sy.plot(sy.evaluation.curves(["majority", "logit"], cal, test, resamples=5))
    >>> chart.save("curves.html")
    >>> type(sy.plot(sy.LogitVote().fit(cal))).__name__
    'LayerChart'
    """
    check_charts()
    if isinstance(subject, Curves):
        return _curves(subject)
    if isinstance(subject, OffsetVote):
        return _offset(subject)
    raise SettingError(
        f"there is no picture of {type(subject).__name__}: plot curves(..), or a fitted vote, logit or linear"
    )


def _curves(curves: Curves) -> alt.LayerChart:
    """A line for each method, with its standard error as a band."""
    import altair as alt

    rows = [
        {"method": name, "n": n, "accuracy": mean, "low": mean - error, "high": mean + error}
        for k, name in enumerate(curves.methods)
        for n, mean, error in zip(curves.sizes, curves.accuracy[:, k].tolist(), curves.se[:, k].tolist(), strict=True)
        if np.isfinite(mean)
    ]
    axis = alt.Axis(values=list(curves.sizes), format="d")
    x = alt.X("n:Q", title="samples per question", scale=alt.Scale(type="log", base=2), axis=axis)
    y = alt.Y("accuracy:Q", title="accuracy", scale=alt.Scale(zero=False), axis=alt.Axis(format=".0%"))
    colours = colour_of(list(curves.methods)).legend(title=None, symbolOpacity=1)
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, color=colours)
    band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q"), y2="high:Q")
    line = base.mark_line(point=True).encode(y=y, tooltip=["method:N", "n:Q", alt.Tooltip("accuracy:Q", format=".1%")])
    title = f"Accuracy on {len(curves.correct)} questions"
    return _sized(alt.layer(band, line), title, "by samples per question, with standard errors")


def _offset(vote: OffsetVote) -> alt.LayerChart:
    """Accuracy on the calibration questions over b, a step function, and the b that was chosen."""
    import altair as alt

    curve, drawn_in = vote.curve_, colour(vote.name)
    places = [vote.score_at(edge) for edge in curve.edges.tolist()]
    rows = [{"b": b, "accuracy": accuracy} for b, accuracy in zip(places, curve.accuracy.tolist()[1:], strict=True)]
    x = alt.X("b:Q", title="b, the score at which a response begins to count for its answer")
    y = alt.Y("accuracy:Q", title="accuracy", scale=alt.Scale(zero=False), axis=alt.Axis(format=".0%"))
    steps = alt.Chart(alt.InlineData(values=rows)).mark_line(interpolate="step-after", color=drawn_in).encode(x=x, y=y)
    chosen = [{"b": vote.b}] if np.isfinite(vote.b) else []
    rule = alt.Chart(alt.InlineData(values=chosen)).mark_rule(strokeDash=[4, 4]).encode(x="b:Q")
    title = f"Accuracy of {vote.name} on {curve.questions} calibration questions"
    return _sized(alt.layer(steps, rule), title, f"over b; {vote.rule} chose {vote.b:.3f}")


def _sized(chart: Any, title: str, subtitle: str) -> alt.LayerChart:
    drawn: alt.LayerChart = styled(chart.properties(width=WIDTH, height=HEIGHT), title=title, subtitle=subtitle)
    return drawn
