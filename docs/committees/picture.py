"""The picture of the README: accuracy by number of labels on both sets, as one small SVG."""

from __future__ import annotations

from typing import Any

import polars as pl

from docs.committees.sets import TITLES
from steelyard.foundation.charts.chart_style import named_lines
from steelyard.voting.method_colours import colour

SHOWN = {
    "few-label": "committee",
    "consensus": "consensus, no labels",
    "best single": "best single LLM",
    "majority": "majority",
}
COLOURS = [colour("committee"), colour("consensus"), colour("best-of-n"), colour("majority")]
WIDTH, HEIGHT = 280, 230
PAPER = "#fdfdfb"


def picture(labels: pl.DataFrame) -> str:
    """Draw both sets beside each other, every line named where it ends."""
    import altair as alt
    import vl_convert

    panels = [_panel(labels.filter(set=name), title) for name, title in TITLES.items()]
    chart = (
        alt.hconcat(*panels, spacing=30)
        .properties(background=PAPER, padding=14)
        .configure(font="system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif")
        .configure_view(strokeWidth=0)
        .configure_axis(gridOpacity=0.4, labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
    )
    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def _panel(table: pl.DataFrame, title: str) -> Any:
    import altair as alt

    names = list(SHOWN)
    rows = [
        {"method": row["way"], "n": row["labels"], "accuracy": row["accuracy"]}
        | {"low": row["accuracy"] - row["se"], "high": row["accuracy"] + row["se"]}
        for row in table.iter_rows(named=True)
        if row["way"] in SHOWN
    ]
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    frame = (low - 0.01, high + 0.01)
    sizes = sorted({row["n"] for row in rows})
    x = alt.X(
        "n:Q", title="labelled questions", axis=alt.Axis(values=sizes, format="d"),
        scale=alt.Scale(type="log", nice=False, domain=[sizes[0], sizes[-1]]),
    )  # fmt: skip
    scale = alt.Scale(domain=list(frame), nice=False)
    y = alt.Y("accuracy:Q", title="accuracy, ± standard error", scale=scale, axis=alt.Axis(format=".0%", tickCount=6))
    tints = alt.Color("method:N", scale=alt.Scale(domain=names, range=COLOURS), legend=None)
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, color=tints)
    bands = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    heavy = alt.condition(alt.FieldEqualPredicate(field="method", equal=names[0]), alt.value(3.5), alt.value(1.8))
    lines = base.mark_line().encode(y=y, strokeWidth=heavy)
    words = named_lines(rows, names, frame, HEIGHT, colours=tints, bold=names[0], label=SHOWN.__getitem__)
    heading = alt.TitleParams(title, anchor="start", fontSize=14)
    return alt.layer(bands, lines, *words).properties(width=WIDTH, height=HEIGHT, title=heading)
