"""Charts about scores: what one is worth, how often it is seen, where b does best."""

from __future__ import annotations

from steelyard.evaluation.reports.chart_data import Offsets, Weights
from steelyard.foundation.charts.figures import INK, Spec, inline, layered
from steelyard.foundation.charts.weight_lines import bold_label, score_axis, weight_lines, zero_marks
from steelyard.voting.method_colours import colour


def weights(data: Weights, method: str) -> Spec:
    """The weight of a response over its score, for and against its answer, the zero-crossings marked."""
    return weight_lines(data.line, data.crossings, data.frame, colour(method))


def scores(data: Weights) -> Spec:
    """How often correct responses (upwards) and wrong ones (downwards) have a score."""
    import altair as alt

    rows = [row | {"height": row["share"] if row["kind"] == "correct" else -row["share"]} for row in data.histogram]
    most = 1.35 * max(row["share"] for row in rows)
    percent = "format(abs(datum.value), '.0%')"
    y = alt.Y(
        "height:Q", title="% of responses", stack=None, scale=alt.Scale(domain=[-most, most], nice=False),
        axis=alt.Axis(labelExpr=percent, minExtent=44, tickCount=5),
    )  # fmt: skip
    tip = [
        alt.Tooltip("kind:N"), alt.Tooltip("begin:Q", title="score from", format=".2f"),
        alt.Tooltip("end:Q", title="to", format=".2f"), alt.Tooltip("share:Q", format=".1%"),
    ]  # fmt: skip
    bars = alt.Chart(inline(rows)).mark_bar(color=INK, clip=True).encode(
        x=score_axis("begin:Q", "score of the verifier", data.frame, bin="binned"), x2="end:Q", y=y, tooltip=tip,
        opacity=alt.condition("datum.kind == 'correct'", alt.value(0.75), alt.value(0.35)),
    )  # fmt: skip
    names = [
        {"kind": "correct responses ↑", "height": 0.9 * most},
        {"kind": "wrong responses ↓", "height": -0.9 * most},
    ]
    words = alt.Chart(inline(names)).mark_text(align="right", dx=-6, color=INK, fontSize=12).encode(
        y=y, x=alt.value("width"), text="kind:N"
    )  # fmt: skip
    return layered(bars, words, *zero_marks(data.crossings, data.frame, label=False), height=200)


def offsets(data: Offsets, method: str, frame: tuple[float, float]) -> Spec:
    """Accuracy on the calibration questions over b; the best interval shaded, the chosen b and majority marked."""
    import altair as alt

    lowest = min(min(data.majority, data.at_b) - 0.1, data.best - 0.15)
    level_range = alt.Scale(domain=[max(0.0, lowest), min(1.0, data.best + 0.04)], nice=False)
    near = frame[0] <= data.b <= frame[1]  # beyond the scores that are seen, b changes little
    across = alt.Scale(domain=list(frame), nice=False) if near else alt.Scale(nice=False)
    right_half = data.b > (sum(frame) / 2 if near else 0.5)
    x = alt.X("b:Q", scale=across, title="b (score at which a weight turns negative)", axis=alt.Axis(tickCount=6))
    axis = alt.Axis(format=".0%", tickCount=6)
    y = alt.Y("accuracy:Q", title="accuracy (% of calibration questions)", scale=level_range, axis=axis)
    tint = colour(method)
    steps = alt.Chart(inline(data.steps)).mark_line(interpolate="step-after", color=tint, strokeWidth=2.5, clip=True)
    best = [{"low": low, "high": high} for low, high in data.intervals]
    shade = (
        alt.Chart(inline(best))
        .mark_rect(color=INK, opacity=0.15, clip=True)
        .encode(x=alt.X("low:Q", scale=across), x2="high:Q")
    )
    chosen = [{"b": data.b, "accuracy": data.at_b, "text": f"chosen: b = {data.b:.3g}"}]
    tip = [alt.Tooltip("b:Q", format=".4g"), alt.Tooltip("accuracy:Q", format=".1%")]
    base = alt.Chart(inline(chosen)).encode(x=x, y=y, tooltip=tip)
    dot = base.mark_point(filled=True, size=110, color=INK, opacity=1)
    text = bold_label(base, left=right_half).encode(text="text:N", y=alt.value(10))  # clear of the curve
    level = alt.Chart(inline([{"accuracy": data.majority, "text": "majority vote"}]))
    rule = level.mark_rule(color=colour("majority"), strokeDash=[5, 4], strokeWidth=2).encode(y=y)
    end = 0 if right_half else "width"
    tag = level.mark_text(
        align="left" if end == 0 else "right", dx=4 if end == 0 else 0, dy=12, color=INK, fontSize=12
    ).encode(y=y, x=alt.value(end), text="text:N")
    return layered(shade, rule, tag, steps.encode(x=x, y=y), dot, text)
