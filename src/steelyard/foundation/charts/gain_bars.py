"""The gain of each method over a baseline, in points, with its standard error."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.foundation.charts.figures import INK, Rows, Spec, inline, layered

ROW = 30  # pixels per method


def gain_bars(rows: Rows, colours: Mapping[str, str], baseline: str) -> Spec:
    """Draw rows of method, label, gain and se (both in points), the largest gain first; hollow where `oracle`."""
    import altair as alt

    ranked = sorted(rows, key=lambda row: -row["gain"])
    drawn = [
        row | {"place": i, "low": row["gain"] - row["se"], "high": row["gain"] + row["se"], "text": _text(row)}
        for i, row in enumerate(ranked)
    ]
    order = alt.EncodingSortField("place", op="min")
    axis = alt.Axis(labelLimit=190, labelPadding=6, labelFontSize=12, grid=True, ticks=False, domain=False)
    y = alt.Y("label:N", sort=order, title=None, axis=axis)
    points = alt.Axis(format="+.1~f", tickCount=6, labelExpr="datum.value == 0 ? '0' : datum.label")
    x = alt.X("gain:Q", title=f"accuracy gained over {baseline} (points)", axis=points)
    tip = [
        alt.Tooltip("method:N"),
        alt.Tooltip("gain:Q", format="+.2f", title="gain (points)"),
        alt.Tooltip("se:Q", format=".2f", title="standard error"),
    ]
    names = list(dict.fromkeys(row["method"] for row in drawn))
    tints = alt.Color("method:N", scale=alt.Scale(domain=names, range=[colours[name] for name in names]), legend=None)
    base = alt.Chart(inline(drawn)).encode(y=y)
    zero = alt.Chart(inline([{"gain": 0}])).mark_rule(color=INK, opacity=0.6).encode(x=x)
    bars = base.mark_rule(strokeWidth=3, opacity=0.5).encode(x=alt.X("low:Q"), x2="high:Q", color=tints)
    dots = base.encode(x=x, color=tints, tooltip=tip)
    filled = dots.mark_point(filled=True, opacity=1, size=110).transform_filter("!datum.oracle")
    hollow = dots.mark_point(filled=False, opacity=1, size=90, strokeWidth=2, fill="white")
    column = base.mark_text(align="right", dx=84, color=INK, fontSize=12).encode(x=alt.value("width"), text="text:N")
    return layered(zero, bars, filled, hollow.transform_filter("datum.oracle"), column, height=max(2, len(drawn)) * ROW)


def _text(row: dict[str, float]) -> str:
    return f"{row['gain']:+.1f} ± {row['se']:.1f}".replace("-", "−")
