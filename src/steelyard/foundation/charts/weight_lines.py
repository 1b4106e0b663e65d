"""The weight of a response over its score, for and against its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.foundation.charts.figures import INK, Rows, Spec, inline, layered

SEEN = 0.25  # of the highest weight; a lowest weight that is less would hardly be seen on a straight axis


def weight_lines(
    line: Rows, crossings: Sequence[float], frame: tuple[float, float], tint: str, *, title: str | None = None
) -> Spec:
    """Draw rows of score and weight; `crossings` are the scores where the weight is zero, `frame` those to show."""
    import altair as alt

    x = score_axis("score:Q", title, frame)
    y = _weight_axis(line)
    base = alt.Chart(inline(line)).encode(
        x=x, y=y,
        tooltip=[alt.Tooltip("score:Q", format=".3f"), alt.Tooltip("weight:Q", format="+.2f")],
    )  # fmt: skip
    areas = [
        base.mark_area(opacity=shade, color=tint, clip=True).transform_filter(f"datum.weight {sign} 0")
        for shade, sign in ((0.22, ">="), (0.5, "<="))
    ]
    zero = alt.Chart(alt.InlineData(values=[{"weight": 0}])).mark_rule(color=INK, opacity=0.7).encode(y=y)
    stroke = base.mark_line(color=tint, strokeWidth=3)
    points = base.mark_point(opacity=0, size=40)
    marks = zero_marks(crossings, frame, label=True)
    return layered(*areas, zero, stroke, points, *_sides(line, y), *marks, height=240)


def score_axis(field: str, title: str | None, frame: tuple[float, float], **more: Any) -> Any:
    """The scores that are shown, from left to right."""
    import altair as alt

    axis = alt.Axis(tickCount=5, format=".1f" if frame[1] - frame[0] > 0.5 else ".2f", grid=True)
    return alt.X(field, title=title, scale=alt.Scale(domain=list(frame), nice=False), axis=axis, **more)


def zero_marks(crossings: Sequence[float], frame: tuple[float, float], *, label: bool) -> list[Any]:
    """Dashed rules where the weight is zero, labelled on the side that has room."""
    import altair as alt

    marks = []
    low, high = frame
    for p in (p for p in crossings if low <= p <= high):
        base = alt.Chart(inline([{"at": p, "text": f"weight 0 at {p:.3g}"}])).encode(x=alt.X("at:Q"))
        marks.append(base.mark_rule(color=INK, strokeDash=[4, 3]))
        if label:
            beside = bold_label(base, left=p > low + 0.6 * (high - low))
            marks.append(beside.encode(text="text:N", y=alt.value(10)))
    return marks


def bold_label(base: Any, *, left: bool) -> Any:
    """Bold text beside a point, to its left or to its right."""
    side, shift = ("right", -8) if left else ("left", 8)
    return base.mark_text(align=side, dx=shift, color=INK, fontWeight="bold", fontSize=12)


def _weight_axis(line: Rows) -> Any:
    """A straight axis where both signs are seen on it, else one that is straight near zero and logarithmic beyond."""
    import altair as alt

    values = [row["weight"] for row in line]
    low, high = min(values), max(values)
    near = -low if 0 < -low < SEEN * high else 0.0
    title = "weight of a response" + (" (log beyond 0)" if near else "")
    scale = alt.Scale(type="symlog", constant=near, nice=False, domain=[1.6 * low, high]) if near else alt.Scale()
    ticks = [0.0, *(sign * 10.0**k for k in range(-4, 3) for sign in (-1, 1))] if near else []
    shown = sorted(tick for tick in ticks if low <= tick <= high and (tick == 0 or abs(tick) > 0.3 * near))
    axis = alt.Axis(minExtent=44, values=shown, format=".4~f") if near else alt.Axis(minExtent=44)
    return alt.Y("weight:Q", title=title, scale=scale, axis=axis)


def _sides(line: Rows, y: Any) -> list[Any]:
    """What it means to lie above and below zero, in words beside the line."""
    import altair as alt

    values = [row["weight"] for row in line]
    if min(values) >= 0:
        return []
    words = alt.Chart(alt.InlineData(values=[{"weight": 0}])).encode(y=y, x=alt.value("width"))
    style: dict[str, Any] = {"align": "right", "dx": -6, "color": INK, "fontSize": 12}
    above = [words.mark_text(dy=-9, **style).encode(text=alt.value("for its answer ↑"))] if max(values) > 0 else []
    return [*above, words.mark_text(dy=10, **style).encode(text=alt.value("against its answer ↓"))]
