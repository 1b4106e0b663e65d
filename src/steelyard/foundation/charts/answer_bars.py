"""The answers of one question: how likely each is, or what weight is for and against it."""

from __future__ import annotations

from typing import Any

from steelyard.foundation.charts.figures import INK, Rows, Spec, inline, layered

ROW = 30  # pixels per answer


def answer_bars(rows: Rows, tint: str, *, title: str, percent: bool) -> Spec:
    """Draw rows of label, answer, votes, value and against (0 or less), in this order; `won` has the full colour."""
    import altair as alt

    drawn = [row | {"place": i, "text": _text(row, percent=percent)} for i, row in enumerate(rows)]
    order = alt.EncodingSortField("place", op="min")
    axis = alt.Axis(labelLimit=190, labelPadding=6, labelFontSize=12, grid=False, ticks=False, domain=False)
    y = alt.Y("label:N", sort=order, title=None, axis=axis)
    shape: dict[str, Any] = {"scale": alt.Scale(domain=[0, 1])} if percent else {}
    x = alt.X("value:Q", title=title, axis=alt.Axis(format=".0%" if percent else "~g", tickCount=6), **shape)
    number = ".1%" if percent else ".3~f"
    tip = [alt.Tooltip("answer:N"), alt.Tooltip("votes:Q"), alt.Tooltip("value:Q", format=number, title=title)]
    base = alt.Chart(inline(drawn)).encode(y=y)
    strength = alt.condition("datum.won", alt.value(1), alt.value(0.4))
    bars = base.mark_bar(color=tint, height=18).encode(x=x, opacity=strength, tooltip=tip)
    against = base.mark_bar(color=INK, height=18, opacity=0.3).encode(
        x=alt.X("against:Q"), tooltip=[alt.Tooltip("answer:N"), alt.Tooltip("against:Q", format=number)]
    )
    zero = alt.Chart(inline([{"value": 0}])).mark_rule(color=INK, opacity=0.6).encode(x=x)
    column = base.mark_text(align="left", dx=8, color=INK, fontSize=12).encode(x=alt.value("width"), text="text:N")
    return layered(bars, against, zero, column, height=max(2, len(drawn)) * ROW)


def _text(row: dict[str, Any], *, percent: bool) -> str:
    """The text beside a bar: its value, and the votes."""
    total = row["value"] + row["against"]
    value = f"{100 * total:.1f} %" if percent else f"{total:+.3g}".replace("-", "−")
    return value if row["votes"] is None else f"{value}, {row['votes']} vote{'s' * (row['votes'] != 1)}"
