"""Accuracy by number of samples: a line per method, named where it ends, with its error as a band."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from steelyard.foundation.charts.chart_style import SPACE, leaving_lines, named_lines
from steelyard.foundation.charts.figures import INK, Rows, Spec, inline, layered

LEAST = 360  # height


def accuracy_lines(
    rows: Rows,
    colours: Mapping[str, str],
    *,
    title: str,
    error: str,
    oracles: Collection[str] = (),
    bold: str | None = None,
    banded: Collection[str] | None = None,
    marked: bool = False,
) -> Spec:
    """Draw rows of method, n, accuracy, low and high, in the order of the colours.

    Oracles are dashed and may leave the frame. `bold` is the method of a heavier line, `banded` those with a band
    (None: all), `error` says what `low` and `high` are, and `marked` shows a dot at each n.
    """
    import altair as alt

    rows = [row for row in rows if row["method"] in colours]
    present = {row["method"] for row in rows}
    methods = [name for name in colours if name in present]
    height = max(LEAST, SPACE * (len(methods) + 1))
    sizes = sorted({row["n"] for row in rows})
    x = _samples_axis(sizes, room=1.03 if marked else 1.0)
    honest = [row for row in rows if row["method"] not in oracles] or rows
    low, high = min(row["low"] for row in honest), max(row["high"] for row in honest)
    ends = (max(0.0, low - 0.01), min(1.0, high + 0.2 * (high - low)) if oracles else min(1.0, high + 0.01))
    frame = alt.Scale(domain=list(ends), nice=False)
    y = alt.Y("accuracy:Q", title=title, scale=frame, axis=alt.Axis(format=".0%", tickCount=7))
    tip = [
        alt.Tooltip("method:N"),
        alt.Tooltip("n:Q", title="samples"),
        alt.Tooltip("accuracy:Q", format=".1%"),
        alt.Tooltip("low:Q", format=".1%", title=f"{error} from"),
        alt.Tooltip("high:Q", format=".1%", title="to"),
    ]
    scale = alt.Scale(domain=methods, range=[colours[name] for name in methods])
    tints = alt.Color("method:N", scale=scale, legend=None)
    base = alt.Chart(inline(rows)).encode(x=x, color=tints)
    shown = alt.FieldOneOfPredicate(field="method", oneOf=sorted(methods if banded is None else banded))
    errors = base.mark_area(opacity=0.15, clip=True) if len(sizes) > 1 else base.mark_rule(opacity=0.5, strokeWidth=3)
    bands = errors.encode(y=alt.Y("low:Q", scale=frame), y2="high:Q")
    oracle = alt.FieldOneOfPredicate(field="method", oneOf=sorted(oracles))
    dashed = alt.condition(oracle, alt.value([5, 4]), alt.value([1, 0]))
    own = alt.FieldEqualPredicate(field="method", equal=bold or "")
    heavy = alt.condition(own, alt.value(3.5), alt.value(1.8))
    lines = base.mark_line(clip=True).encode(y=y, strokeDash=dashed, strokeWidth=heavy)
    dots = base.mark_point(size=50, opacity=int(marked), filled=True, clip=True).encode(y=y, tooltip=tip)
    names = named_lines(rows, methods, ends, height, colours=tints, bold=bold, ink=INK)
    leaving = alt.Chart(inline(leaving_lines(rows, ends[1]))).mark_text(
        align="left", baseline="top", dx=9, color=INK, fontSize=12
    )
    leaves = leaving.encode(x=x, y=y, text="method:N")
    return layered(bands.transform_filter(shown), lines, dots, *names, leaves, height=height)


def _samples_axis(sizes: list[int], *, room: float) -> Any:
    """Samples per question on a logarithmic axis that ends where something was measured, or a factor beyond it."""
    import altair as alt

    ticks = [n for n in sizes if n & (n - 1) == 0 or n == sizes[-1]]
    beyond = room if len(sizes) > 1 else 2
    domain = [sizes[0] / beyond, sizes[-1] * beyond]
    return alt.X(
        "n:Q",
        title="samples per question (N)",
        scale=alt.Scale(type="log", base=2, nice=False, domain=domain),
        axis=alt.Axis(values=ticks, format="d"),
    )
