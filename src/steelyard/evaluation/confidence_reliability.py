"""Whether a confidence of 70 % means 70 %: the confidence of verdicts against the share that is correct."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.evaluation.reports.charts import calibration_curve as draw_curve
from steelyard.evaluation.reports.sentences import calibration_title
from steelyard.foundation.charts.chart_style import check_charts
from steelyard.foundation.charts.figures import figure
from steelyard.foundation.errors import CalibrationError
from steelyard.voting.confidence.calibration_error import Bin, CalibrationCurve, calibration_curve
from steelyard.voting.pools.notebook import html_table
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.pools.verdicts import Verdicts

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True, repr=False)
class Reliability:
    """Verdicts in bins of confidence, each with its accuracy and a 95 % interval; `ece` is the mean gap of the two.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(300, 16)).split(0.5, seed=0)
    >>> verdicts = sy.CalibratedVote().fit(cal).predict(test)
    >>> sum(one.questions for one in sy.evaluation.reliability(verdicts, test).bins)
    150
    """

    curve: CalibrationCurve
    questions: int

    @property
    def ece(self) -> float:
        """The expected calibration error: the mean gap between confidence and accuracy, over questions."""
        return self.curve.ece

    @property
    def bins(self) -> tuple[Bin, ...]:
        """The bins that hold any question, by rising confidence."""
        return self.curve.bins

    def plot(self) -> alt.LayerChart:
        """Draw accuracy by confidence; on the dashed line the confidence is exact."""
        check_charts()
        title, _, finding = calibration_title(self.curve).partition("; ")
        subtitle = f"{finding}; {self.questions:,} questions in bins, their number above; bars: 95 %"
        return figure(draw_curve(self.curve, "calibrated"), title=title, subtitle=subtitle)

    def __repr__(self) -> str:
        return f"Reliability({self.questions} questions in {len(self.bins)} bins, ece {self.ece:.3f})"

    def _repr_html_(self) -> str:
        rows = [
            (f"{100 * b.begin:.0f} to {100 * b.end:.0f} %", b.questions, b.confidence, b.accuracy, b.low, b.high)
            for b in self.bins
        ]
        return html_table(repr(self), ("confidence", "questions", "mean confidence", "accuracy", "low", "high"), rows)


def reliability(verdicts: Verdicts, labelled: LabelledPool) -> Reliability:
    """Compare the confidence of verdicts with the share that is correct, on questions that were not used to calibrate.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(300, 16)).split(0.5, seed=0)
    >>> found = sy.evaluation.reliability(sy.CalibratedVote().fit(cal).predict(test), test)
    >>> found.ece < 0.2
    True
    """
    if verdicts.p_correct is None:
        raise CalibrationError(
            "these verdicts have no confidence: the method learns none; fit sy.CalibratedVote or sy.CommitteeVote"
        )
    return Reliability(calibration_curve(verdicts.p_correct, verdicts.correct(labelled)), len(verdicts))
