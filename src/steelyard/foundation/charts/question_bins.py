"""Questions by how sure or how united their votes are, correct and wrong ones apart where they are known."""

from __future__ import annotations

from steelyard.foundation.charts.figures import INK, Rows, Spec, inline, layered

STRENGTH = {"correct": 0.75, "wrong": 0.35, "all": 0.6}  # of the ink


def question_bins(rows: Rows, *, title: str) -> Spec:
    """Draw rows of kind (correct and wrong, or all), begin, end and questions as bars that stand on each other."""
    import altair as alt

    axis = alt.Axis(format=".0%", values=[i / 5 for i in range(6)])
    x = alt.X("begin:Q", bin="binned", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis)
    y = alt.Y("questions:Q", title="questions", stack="zero", axis=alt.Axis(tickCount=6, format="d"))
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    legend = alt.Legend(title=None, symbolType="square", symbolStrokeWidth=0, symbolFillColor=INK)
    scale = alt.Scale(domain=kinds, range=[STRENGTH[kind] for kind in kinds])
    strength = alt.Opacity("kind:N", scale=scale, sort=kinds, legend=legend if len(kinds) > 1 else None)
    tip = [
        alt.Tooltip("kind:N", title="verdicts"),
        alt.Tooltip("begin:Q", format=".0%", title="from"),
        alt.Tooltip("end:Q", format=".0%", title="to"),
        alt.Tooltip("questions:Q"),
    ]
    order = alt.Order("rank:Q")
    ranked = [row | {"rank": kinds.index(row["kind"])} for row in rows]
    bars = alt.Chart(inline(ranked)).mark_bar(color=INK, binSpacing=2)
    return layered(bars.encode(x=x, x2="end:Q", y=y, opacity=strength, order=order, tooltip=tip))
