"""The charts of the page as Vega-Lite specifications.

They carry no title (the page states the finding above them, where it wraps on a phone) and no colour of ink or
paper: axes and rules are drawn in `currentColor`, so light, dark and print follow the page's own style.
"""

from __future__ import annotations

from steelyard.evaluation.reports.summary import BASELINES
from steelyard.foundation.charts.accuracy_lines import accuracy_lines
from steelyard.foundation.charts.figures import INK, Rows, Spec, inline, layered
from steelyard.voting.confidence.calibration_error import CalibrationCurve
from steelyard.voting.method_colours import colour, colour_of

TESTED = "accuracy (% of test questions)"
ORACLES = ("pass-at-n",)


def curves(rows: Rows, method: str) -> Spec:
    """Accuracy over n of the method and its baselines, each line named where it ends; the dashed oracle may leave."""
    colours = {name: colour(name) for name in (*BASELINES, method, *ORACLES)}
    shown = (method, "majority")
    return accuracy_lines(rows, colours, title=TESTED, error="95 %", oracles=ORACLES, bold=method, banded=shown)


def calibration_curve(curve: CalibrationCurve, method: str) -> Spec:
    """Accuracy over confidence, with intervals; the diagonal is a confidence that keeps its word."""
    import altair as alt

    rows = [vars(bin_) for bin_ in curve.bins]
    full = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format=".0%", values=[i / 5 for i in range(6)])
    x = alt.X("confidence:Q", title="confidence of the verdict (%)", scale=full, axis=axis)
    y = alt.Y("accuracy:Q", title=TESTED, scale=full, axis=axis)
    tint = colour(method)
    base = alt.Chart(inline(rows)).encode(x=x)
    tip = [
        alt.Tooltip("questions:Q"),
        alt.Tooltip("confidence:Q", format=".1%"),
        alt.Tooltip("accuracy:Q", format=".1%"),
    ]
    bars = base.mark_rule(color=tint, strokeWidth=2).encode(y=alt.Y("low:Q", scale=full), y2="high:Q")
    line = base.mark_line(color=tint, strokeWidth=2).encode(y=y)
    dots = base.mark_point(filled=True, opacity=1, color=tint, size=90).encode(y=y, tooltip=tip)
    counts = base.mark_text(color=INK, fontSize=11, baseline="bottom", dy=-4).encode(
        y=alt.Y("high:Q", scale=full), text="questions:Q"
    )
    ends = [{"confidence": 0, "accuracy": 0}, {"confidence": 1, "accuracy": 1}]
    diagonal = alt.Chart(inline(ends)).mark_line(color=INK, strokeDash=[4, 4], opacity=0.6).encode(x=x, y=y)
    caption = alt.Chart(inline([{"confidence": 0.99, "accuracy": 0.05, "text": "dashed: as sure as it is correct"}]))
    name = caption.mark_text(align="right", color=INK, fontSize=12).encode(x=x, y=y, text="text:N")
    return layered(diagonal, name, bars, line, dots, counts, height=340)


def domains(rows: Rows, method: str) -> Spec:
    """Accuracy by domain: a dot per method, each on a line of its own, and the interval of the page's method."""
    import altair as alt

    names = list(dict.fromkeys(row["method"] for row in rows))
    own = sorted((row for row in rows if row["method"] == method), key=lambda row: -row["accuracy"])
    place = {row["domain"]: i for i, row in enumerate(own)}
    ranked = [row | {"place": place[row["domain"]]} for row in rows]
    order = alt.EncodingSortField("place", op="min")  # a list of names would become part of an expression
    axis = alt.Axis(labelLimit=130, grid=True, ticks=False, domain=False)
    y = alt.Y("domain:N", sort=order, title=None, axis=axis, scale=alt.Scale(paddingInner=0.3))
    x = alt.X("accuracy:Q", title=TESTED, axis=alt.Axis(format=".0%"))
    tip = [
        alt.Tooltip("domain:N"),
        alt.Tooltip("method:N"),
        alt.Tooltip("accuracy:Q", format=".1%"),
        alt.Tooltip("questions:Q"),
    ]
    lane = alt.YOffset("method:N", sort=names)  # methods that are equally accurate would hide each other
    base = alt.Chart(inline(ranked)).encode(
        y=y, yOffset=lane, color=colour_of(names).legend(title=None, orient="top", columns=2)
    )
    mine = alt.FieldEqualPredicate(field="method", equal=method)
    bars = base.mark_rule(strokeWidth=3, opacity=0.45).encode(x=alt.X("low:Q"), x2="high:Q").transform_filter(mine)
    dots = base.mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.6).encode(
        x=x, tooltip=tip, size=alt.condition(mine, alt.value(130), alt.value(65))
    )
    return layered(bars, dots, height=40 + (12 + 8 * len(names)) * len(place))
