"""The picture of cascades: accuracy over cost, with what it is compared with, as one small SVG."""

from __future__ import annotations

from typing import Any

import polars as pl

from docs.committees.picture import PAPER
from steelyard.voting.method_colours import colour

LINES = ("cascade", "random routing")
POINTS = {"cheapest single": "cheapest single LLM", "best single": "best single LLM", "everyone": "everyone"}
COLOURS = {
    "cascade": colour("committee"), "random routing": colour("majority"), "cheapest single": colour("best-of-n"),
    "best single": colour("best-of-n"), "everyone": colour("consensus"),
}  # fmt: skip
WIDTH, HEIGHT = 560, 260


def cascade_picture(table: pl.DataFrame) -> str:
    """Draw both lines with a band of one standard error, and the three points with their names."""
    import altair as alt
    import vl_convert

    known = table.filter(pl.col("policy").is_in(list(COLOURS)))
    rows = [
        row | {"low": row["accuracy"] - row["se"], "high": row["accuracy"] + row["se"]}
        for row in known.select("policy", "cost", "accuracy", "se").iter_rows(named=True)
    ]
    ends = [row | {"policy": "random routing"} for row in rows if row["policy"] in POINTS]
    names = list(COLOURS)
    tints = alt.Color("policy:N", scale=alt.Scale(domain=names, range=[COLOURS[name] for name in names]), legend=None)
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    x = alt.X(
        "cost:Q", title="mean cost per question, of the best single LLM's",
        axis=alt.Axis(format="~%", values=_ticks(rows)),
        scale=alt.Scale(type="log", nice=False, domain=[rows_cost(rows, min) / 1.4, rows_cost(rows, max) * 2.2]),
    )  # fmt: skip
    scale = alt.Scale(domain=[low - 0.02, high + 0.02], nice=False)
    y = alt.Y("accuracy:Q", title="accuracy, ± standard error", scale=scale, axis=alt.Axis(format=".0%", tickCount=6))

    def chart(chosen: list[dict[str, Any]]) -> Any:
        return alt.Chart(alt.InlineData(values=chosen)).encode(x=x, color=tints)

    lines = [*(row for row in rows if row["policy"] in LINES), *ends]
    bands = chart([r for r in rows if r["policy"] == "cascade"]).mark_area(opacity=0.15)
    heavy = alt.condition(alt.FieldEqualPredicate(field="policy", equal="cascade"), alt.value(3.5), alt.value(1.8))
    dots = [row | {"name": POINTS[row["policy"]]} for row in rows if row["policy"] in POINTS]
    drawn = alt.layer(
        bands.encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        chart(lines).mark_line().encode(y=y, strokeWidth=heavy),
        chart([r for r in rows if r["policy"] == "cascade"]).mark_circle(size=45, opacity=1).encode(y=y),
        chart(dots).mark_point(size=80, filled=True, shape="diamond", opacity=1).encode(y=y),
        chart(dots).mark_text(align="left", dx=8, dy=12, fontSize=12).encode(y=y, text="name:N"),
        *(
            chart([_named(rows, policy)])
            .mark_text(align=align, dx=dx, dy=dy, fontSize=12, fontWeight="bold" if policy == LINES[0] else "normal")
            .encode(y=y, text="policy:N")
            for policy, align, dx, dy in zip(LINES, ("right", "left"), (-10, 12), (-8, 8), strict=True)
        ),
    ).properties(width=WIDTH, height=HEIGHT, background=PAPER, padding=14)
    styled = (
        drawn.configure(font="system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif")
        .configure_view(strokeWidth=0)
        .configure_axis(gridOpacity=0.4, labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
    )
    return str(vl_convert.vegalite_to_svg(styled.to_json()))


def rows_cost(rows: list[dict[str, Any]], choose: Any) -> float:
    """The least or the largest cost."""
    return float(choose(row["cost"] for row in rows))


def _ticks(rows: list[dict[str, Any]]) -> list[float]:
    low, high = rows_cost(rows, min), rows_cost(rows, max)
    return [tick for tick in (0.001, 0.01, 0.1, 0.5, 1, 1.5, 3, 10, 30) if low / 1.4 <= tick <= high * 2.2]


def _named(rows: list[dict[str, Any]], policy: str) -> dict[str, Any]:
    """Where a line is named: at the budget of half of what the best single LLM costs, about."""
    return min((row for row in rows if row["policy"] == policy), key=lambda row: abs(float(row["cost"]) - 0.5))
