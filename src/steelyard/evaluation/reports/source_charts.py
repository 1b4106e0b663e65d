"""Charts about the sources of a committee: who errs with whom, and what accuracy loses without each."""

from __future__ import annotations

from steelyard.evaluation.reports.charts import INK, Spec, inline, layered
from steelyard.evaluation.reports.source_details import LONGEST, SourceDetails, error_rows, short_names, telling
from steelyard.evaluation.reports.style import colour

FEW = 12  # sources; the cells of more are too small for figures
CELL, LEAST = 17, 34  # pixels of a row: the least, and with few sources
SHORTER = 22  # characters of a name beside a scale that also needs room
NAME = 190  # pixels of a name
FAINTEST, STRONGEST = 0.06, 1.0  # how much of the colour the lowest and the highest share have


def errors(found: SourceDetails) -> Spec:
    """Every two sources: the stronger the colour, the more often they give the same answer when both are wrong."""
    import altair as alt

    rows, count = error_rows(found), len(found.order)
    shares = [row["share"] for row in rows if "share" in row]
    top = max(shares, default=1.0)
    order = alt.EncodingSortField("row", op="min")
    across = alt.EncodingSortField("column", op="min")
    named = alt.Axis(labelLimit=NAME, ticks=False, domain=False, grid=False, labelFontSize=12 if count <= 25 else 11)
    upright = alt.Axis(
        labelLimit=NAME, ticks=False, domain=False, grid=False, orient="top", labelAngle=-60 if count <= FEW else -90,
        labelAlign="left", labelBaseline="middle", labelFontSize=12 if count <= 25 else 11,
    )  # fmt: skip
    y = alt.Y("label:N", sort=order, title=None, axis=named)
    x = alt.X("over:N", sort=across, title=None, axis=upright)
    strength = alt.Opacity(
        "share:Q",
        scale=alt.Scale(type="pow", exponent=1.2, domain=[0, top], range=[FAINTEST, STRONGEST]),
        legend=alt.Legend(
            title="same answer when both are wrong", format=".0%", orient="bottom", direction="horizontal",
            symbolType="square", symbolSize=220, symbolFillColor=colour(found.method), symbolStrokeWidth=0,
            values=[0, round(top / 2, 2), top],
            titleLimit=0,
        ),
    )  # fmt: skip
    tip = [
        alt.Tooltip("source:N", title="source"),
        alt.Tooltip("other:N", title="and"),
        alt.Tooltip("both:Q", title="both wrong, questions"),
        alt.Tooltip("share:Q", format=".0%", title="the same wrong answer"),
        alt.Tooltip("expected:Q", format=".0%", title="others on these questions"),
    ]
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    known = "isValid(datum.share)"
    cells = base.mark_rect(color=colour(found.method), cornerRadius=2).encode(opacity=strength, tooltip=tip)
    layers = [cells.transform_filter(known)]
    if count <= FEW:
        figures = base.mark_text(color=INK, fontSize=12).encode(text=alt.Text("share:Q", format=".0%"))
        layers.append(figures.transform_filter(known))
    return layered(*layers, height=count * cell(count))


def cell(count: int) -> int:
    """The height of a row of so many sources, in pixels."""
    return CELL + (LEAST - CELL) * max(0, FEW - count) // FEW if count <= FEW else CELL


def least_width(found: SourceDetails) -> int:
    """The width in pixels below which the picture of errors is scrolled and not squeezed."""
    names = min(NAME, 8 * max(map(len, short_names(found.order, LONGEST).values())))
    return names + 10 + len(found.order) * (40 if len(found.order) <= FEW else CELL - 1)


def losses(found: SourceDetails) -> Spec:
    """The accuracy lost without each source, a dot with its interval, and its weight; heaviest first."""
    import altair as alt

    shown = telling(found)
    label = short_names(shown, SHORTER)
    rows = [
        {
            "source": name, "label": label[name], "place": i, "weight": found.weights[name],
            "said": f"{found.weights[name]:.2f}", "lost": 100 * float(found.lost[name]),
            "low": 100 * found.lost[name].low, "high": 100 * found.lost[name].high,
        }
        for i, name in enumerate(shown)
    ]  # fmt: skip
    order = alt.EncodingSortField("place", op="min")
    y = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=NAME, grid=True, ticks=False, domain=False))
    x = alt.X("lost:Q", title="accuracy lost without it (points)", axis=alt.Axis(format=".1~f", tickCount=6))
    tip = [
        alt.Tooltip("source:N"),
        alt.Tooltip("weight:Q", format=".2f"),
        alt.Tooltip("lost:Q", format="+.1f", title="points lost without it"),
        alt.Tooltip("low:Q", format="+.1f", title="95 % from"),
        alt.Tooltip("high:Q", format="+.1f", title="to"),
    ]
    tint = colour(found.method)
    base = alt.Chart(inline(rows)).encode(y=y)
    zero = alt.Chart(inline([{"lost": 0}])).mark_rule(color=INK, opacity=0.6).encode(x=alt.X("lost:Q"))
    bars = base.mark_rule(strokeWidth=3, opacity=0.45, color=tint).encode(x=alt.X("low:Q"), x2="high:Q")
    dots = base.mark_point(filled=True, opacity=1, size=80, color=tint).encode(x=x, tooltip=tip)
    column = base.mark_text(align="right", dx=44, color=INK, fontSize=12).encode(x=alt.value("width"), text="said:N")
    head = alt.Chart(inline([{"text": "weight"}])).mark_text(align="right", dx=44, dy=-8, color=INK, fontSize=12)
    heading = head.encode(x=alt.value("width"), y=alt.value(0), text="text:N")
    return layered(zero, bars, dots, column, heading, height=max(2, len(rows)) * 22)
