"""The table of `sy.evaluate`: a polars frame that can draw the gains it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from steelyard.foundation.charts.chart_style import check_charts
from steelyard.foundation.charts.figures import figure
from steelyard.foundation.charts.gain_bars import gain_bars
from steelyard.foundation.errors import SettingError
from steelyard.voting.method_colours import colour, is_oracle

if TYPE_CHECKING:
    import altair as alt

NEEDED = ("method", "n", "gain", "gain_se")
UNNAMED = "the baseline"


class EvaluationTable(pl.DataFrame):
    """A polars frame with one row per method and n; `.plot()` draws the gains over the baseline.

    Everything else is as in polars. What polars makes of it (`filter`, `select`) is an ordinary frame, which `sy.plot`
    draws.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> table = sy.evaluate(["majority", "logit"], cal, test, n=[4, 8], resamples=5)
    >>> table.plot().title.subtitle
    'n = 8, paired on the same questions, with standard errors'
    >>> table.filter(table["n"] == 4).columns[:3]
    ['method', 'n', 'accuracy']
    """

    baseline: str = UNNAMED

    @property
    def plot(self) -> GainPlot:  # type: ignore[override]
        """Call it to draw the gains; `.plot.line(..)` and the others are those of polars."""
        return GainPlot(self)


class GainPlot:
    """The charts of a table of `sy.evaluate`: its own when called, those of polars by name."""

    def __init__(self, table: EvaluationTable) -> None:
        self._table = table

    def __call__(self, n: int | None = None) -> alt.LayerChart:
        """Draw the gain of every method over the baseline, at n samples per question (default: the largest n)."""
        return plot_gains(self._table, n, baseline=self._table.baseline)

    def __getattr__(self, name: str) -> Any:
        return getattr(pl.DataFrame(self._table).plot, name)


def is_evaluation(columns: Sequence[str]) -> bool:
    """Whether a frame has what the picture of the gains needs."""
    return set(NEEDED) <= set(columns)


def plot_gains(table: pl.DataFrame, n: int | None = None, *, baseline: str = UNNAMED) -> alt.LayerChart:
    """Draw the gains in a table of `sy.evaluate`, one dot per method with its standard error."""
    check_charts()
    sizes = sorted(set(table["n"].to_list()))
    if not sizes:
        raise SettingError("the table has no row: there is nothing to draw")
    size = sizes[-1] if n is None else n
    if size not in sizes:
        raise SettingError(f"n is {n}, and the table has {', '.join(map(str, sizes))}: choose one of these")
    shown = table.filter((pl.col("n") == size) & pl.col("gain").is_not_null() & (pl.col("method") != baseline))
    if shown.is_empty():
        raise SettingError(f"the table has no gain over {baseline} at n = {size}: evaluate another method as well")
    rows = [
        {
            "method": row["method"],
            "label": f"{row['method']} (oracle)" if is_oracle(row["method"]) else row["method"],
            "oracle": is_oracle(row["method"]),
            "gain": 100 * row["gain"],
            "se": 100 * (row["gain_se"] or 0.0),
        }
        for row in shown.iter_rows(named=True)
    ]
    spec = gain_bars(rows, {row["method"]: colour(row["method"]) for row in rows}, baseline)
    subtitle = f"n = {size}, paired on the same questions, with standard errors"
    return figure(spec, title=f"Gain in accuracy over {baseline}", subtitle=subtitle)
