"""Charts about scores: what one is worth, how often it is seen, where b does best."""

from __future__ import annotations

from typing import Any

from steelyard.evaluation.reports.chart_data import Offsets, Weights
from steelyard.evaluation.reports.chart_style import colour
from steelyard.evaluation.reports.charts import INK, Spec, inline, layered

SEEN = 0.25  # of the highest weight; a lowest weight that is less would hardly be seen on a straight axis


def weights(data: Weights, method: str) -> Spec:
    """The weight of a response over its score, for and against its answer, the zero-crossings marked."""
    import altair as alt

    x = _score_axis("score:Q", None, data.frame)
    y = _weight_axis(data)
    line = alt.Chart(inline(data.line)).encode(
        x=x, y=y,
        tooltip=[alt.Tooltip("score:Q", format=".3f"), alt.Tooltip("weight:Q", format="+.2f")],
    )  # fmt: skip
    tint = colour(method)
    areas = [
        line.mark_area(opacity=shade, color=tint, clip=True).transform_filter(f"datum.weight {sign} 0")
        for shade, sign in ((0.22, ">="), (0.5, "<="))
    ]
    zero = alt.Chart(alt.InlineData(values=[{"weight": 0}])).mark_rule(color=INK, opacity=0.7).encode(y=y)
    stroke = line.mark_line(color=tint, strokeWidth=3)
    points = line.mark_point(opacity=0, size=40)
    return layered(*areas, zero, stroke, points, *_sides(data, y), *_marks(data, label=True), height=240)


def _weight_axis(data: Weights) -> Any:
    """A straight axis where both signs are seen on it, else one that is straight near zero and logarithmic beyond."""
    import altair as alt

    values = [row["weight"] for row in data.line]
    low, high = min(values), max(values)
    near = -low if 0 < -low < SEEN * high else 0.0
    title = "weight of a response" + (" (log beyond 0)" if near else "")
    scale = alt.Scale(type="symlog", constant=near, nice=False, domain=[1.6 * low, high]) if near else alt.Scale()
    ticks = [0.0, *(sign * 10.0**k for k in range(-4, 3) for sign in (-1, 1))] if near else []
    shown = sorted(tick for tick in ticks if low <= tick <= high and (tick == 0 or abs(tick) > 0.3 * near))
    axis = alt.Axis(minExtent=44, values=shown, format=".4~f") if near else alt.Axis(minExtent=44)
    return alt.Y("weight:Q", title=title, scale=scale, axis=axis)


def _sides(data: Weights, y: Any) -> list[Any]:
    """What it means to lie above and below zero, in words beside the line."""
    import altair as alt

    values = [row["weight"] for row in data.line]
    if min(values) >= 0:
        return []
    words = alt.Chart(alt.InlineData(values=[{"weight": 0}])).encode(y=y, x=alt.value("width"))
    style: dict[str, Any] = {"align": "right", "dx": -6, "color": INK, "fontSize": 12}
    above = [words.mark_text(dy=-9, **style).encode(text=alt.value("for its answer ↑"))] if max(values) > 0 else []
    return [*above, words.mark_text(dy=10, **style).encode(text=alt.value("against its answer ↓"))]


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
        x=_score_axis("begin:Q", "score of the verifier", data.frame, bin="binned"), x2="end:Q", y=y, tooltip=tip,
        opacity=alt.condition("datum.kind == 'correct'", alt.value(0.75), alt.value(0.35)),
    )  # fmt: skip
    names = [
        {"kind": "correct responses ↑", "height": 0.9 * most},
        {"kind": "wrong responses ↓", "height": -0.9 * most},
    ]
    words = alt.Chart(inline(names)).mark_text(align="right", dx=-6, color=INK, fontSize=12).encode(
        y=y, x=alt.value("width"), text="kind:N"
    )  # fmt: skip
    return layered(bars, words, *_marks(data, label=False), height=200)


def _score_axis(field: str, title: str | None, frame: tuple[float, float], **more: Any) -> Any:
    import altair as alt

    axis = alt.Axis(tickCount=5, format=".1f" if frame[1] - frame[0] > 0.5 else ".2f", grid=True)
    return alt.X(field, title=title, scale=alt.Scale(domain=list(frame), nice=False), axis=axis, **more)


def _marks(data: Weights, *, label: bool) -> list[Any]:
    """Dashed rules where the weight is zero, labelled on the side that has room."""
    import altair as alt

    marks = []
    low, high = data.frame
    for p in (p for p in data.crossings if low <= p <= high):
        base = alt.Chart(inline([{"at": p, "text": f"weight 0 at {p:.3g}"}])).encode(x=alt.X("at:Q"))
        marks.append(base.mark_rule(color=INK, strokeDash=[4, 3]))
        if label:
            marks.append(_label(base, left=p > low + 0.6 * (high - low)).encode(text="text:N", y=alt.value(10)))
    return marks


def _label(base: Any, *, left: bool) -> Any:
    """Bold text beside a point, to its left or to its right."""
    side, shift = ("right", -8) if left else ("left", 8)
    return base.mark_text(align=side, dx=shift, color=INK, fontWeight="bold", fontSize=12)


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
    text = _label(base, left=right_half).encode(text="text:N", y=alt.value(10))  # clear of the curve
    level = alt.Chart(inline([{"accuracy": data.majority, "text": "majority vote"}]))
    rule = level.mark_rule(color=colour("majority"), strokeDash=[5, 4], strokeWidth=2).encode(y=y)
    end = 0 if right_half else "width"
    tag = level.mark_text(
        align="left" if end == 0 else "right", dx=4 if end == 0 else 0, dy=12, color=INK, fontSize=12
    ).encode(y=y, x=alt.value(end), text="text:N")
    return layered(shade, rule, tag, steps.encode(x=x, y=y), dot, text)
