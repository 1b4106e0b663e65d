"""The picture of docs/sample-committees.md: accuracy by number of samples, one panel for each set."""

from __future__ import annotations

from typing import Any

import polars as pl

from docs.sample_committees.page import TITLES
from steelyard.voting.method_colours import colour

SHOWN = {
    "single best": "best single LLM in hindsight",
    "single chosen": "single LLM, chosen by labels",
    "plan": "plan_budget",
    "committee": "all LLMs, committee",
    "consensus": "all LLMs, consensus (no labels)",
    "majority": "all LLMs, majority (no labels)",
}
COLOURS = ["#222222", colour("best-of-n"), "#0072b2", colour("committee"), colour("consensus"), colour("majority")]
WIDTH, HEIGHT = 235, 230
PAPER = "#fdfdfb"


def picture(accuracy: pl.DataFrame) -> str:
    """Draw the sets beside each other, with one legend."""
    import altair as alt
    import vl_convert

    panels = [_panel(accuracy.filter(set=name), title) for name, title in TITLES.items()]
    chart = (
        alt.hconcat(*panels, spacing=24)
        .properties(background=PAPER, padding=14)
        .configure(font="system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif")
        .configure_view(strokeWidth=0)
        .configure_axis(gridOpacity=0.4, labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
        .configure_legend(
            orient="bottom",
            columns=3,
            labelFontSize=12,
            labelLimit=260,
            symbolType="stroke",
            symbolStrokeWidth=3,
            symbolOpacity=1,
        )
    )
    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def _panel(table: pl.DataFrame, title: str) -> Any:
    import altair as alt

    rows: list[dict[str, Any]] = [
        {"name": SHOWN[row["rule"]], "n": row["samples"], "accuracy": row["accuracy"]}
        | {"low": row["accuracy"] - row["se"], "high": row["accuracy"] + row["se"]}
        for row in table.iter_rows(named=True)
        if row["rule"] in SHOWN
    ]
    sizes = sorted({row["n"] for row in rows})
    domain = alt.Scale(type="log", nice=False, domain=[sizes[0], sizes[-1]])
    x = alt.X("n:Q", title="samples per question", axis=alt.Axis(values=sizes, format="d"), scale=domain)
    scale = alt.Scale(zero=False, nice=False, padding=8)
    y = alt.Y("accuracy:Q", title=None, scale=scale, axis=alt.Axis(format=".0%", tickCount=6))
    tints = alt.Color(
        "name:N", scale=alt.Scale(domain=list(SHOWN.values()), range=COLOURS), legend=alt.Legend(title=None)
    )
    dash = alt.condition(
        alt.FieldEqualPredicate(field="name", equal=SHOWN["single best"]), alt.value([5, 3]), alt.value([1, 0])
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, color=tints)
    best = alt.FieldEqualPredicate(field="name", equal=SHOWN["single best"])
    band = base.transform_filter(best).mark_area(opacity=0.1).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    lines = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dash)
    heading = alt.TitleParams(title, anchor="start", fontSize=14)
    return alt.layer(band, lines).properties(width=WIDTH, height=HEIGHT, title=heading)
