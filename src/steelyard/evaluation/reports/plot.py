"""`sy.plot`: one picture of one thing, for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from steelyard.evaluation.evaluation_table import is_evaluation, plot_gains
from steelyard.evaluation.reports.chart_data import offsets_of
from steelyard.evaluation.reports.score_charts import offsets
from steelyard.foundation.charts.chart_style import check_charts
from steelyard.foundation.charts.figures import figure
from steelyard.foundation.errors import SettingError
from steelyard.voting.methods.base.offset_vote import OffsetVote

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


class Plottable(Protocol):
    """What has a picture of its own."""

    def plot(self) -> alt.LayerChart:
        """Draw it."""


def plot(subject: Plottable | OffsetVote | pl.DataFrame) -> alt.LayerChart:
    """Draw what has a `.plot()`, a table of `sy.evaluate` (gains), or a fitted `logit` or `linear` (accuracy over b).

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> chart = sy.plot(sy.evaluation.curves(["majority", "logit"], cal, test, resamples=5))
    >>> chart.save("curves.html")
    >>> sy.plot(sy.LogitVote().fit(cal)).title.text
    'Accuracy of logit on 100 calibration questions'
    """
    import polars as pl

    check_charts()
    if isinstance(subject, OffsetVote):
        return _offset(subject)
    if isinstance(subject, pl.DataFrame):
        if is_evaluation(subject.columns):
            return plot_gains(subject, baseline=getattr(subject, "baseline", "the baseline"))
        raise SettingError("there is no picture of this table: plot one of evaluate(..), with method, n, gain, gain_se")
    own: Any = getattr(subject, "plot", None)
    if own is None:
        raise SettingError(
            f"there is no picture of {type(subject).__name__}: plot curves(..), a table of evaluate(..), a fitted "
            "vote, verdicts, a ballot or reliability(..)"
        )
    drawn: alt.LayerChart = own()
    return drawn


def _offset(vote: OffsetVote) -> alt.LayerChart:
    """Accuracy on the calibration questions over b, a step function, and the b that was chosen."""
    questions, data = vote.curve_.questions, offsets_of(vote)
    if data is None:
        raise AssertionError(f"{vote.name} has no offset")
    title = f"Accuracy of {vote.name} on {questions} calibration questions"
    subtitle = f"over b, the score at which a weight turns negative; {vote.rule} chose {vote.b:.3f}"
    return figure(offsets(data, vote.name, (0.0, 1.0)), title=title, subtitle=subtitle)
