"""The charts of the page as Vega-Lite specifications.

They carry no title (the page states the finding above them, where it wraps on a phone) and no colour of ink or
paper: axes and rules are drawn in `currentColor`, so light, dark and print follow the page's own style.
"""

from __future__ import annotations

from typing import Any

from steelyard.evaluation.reliability import Reliability
from steelyard.report.details import Offsets, Rows, Weights
from steelyard.report.style import COLOURS, RIGHT, WRONG

INK = "currentColor"
HEIGHT = 300
ORACLES = {"pass-at-n"}
Spec = dict[str, Any]


def _spec(*layers: Any, height: int = HEIGHT) -> Spec:
    """Layer charts, as wide as the page allows."""
    import altair as alt

    chart = alt.layer(*layers).properties(width="container", height=height)
    spec: Spec = chart.to_dict()
    spec.pop("config", None)
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec


def _colour(methods: list[str]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=methods, range=[COLOURS.get(name, "#000000") for name in methods])
    return alt.Color("method:N", scale=scale, legend=alt.Legend(title=None, orient="top", columns=4))


def _percent(field: str, title: str, **scale: Any) -> Any:
    import altair as alt

    return alt.Y(field, title=title, axis=alt.Axis(format=".0%"), scale=alt.Scale(zero=False, **scale))


def _data(rows: Rows) -> Any:
    import altair as alt

    return alt.Data(values=[{k: round(v, 5) if isinstance(v, float) else v for k, v in row.items()} for row in rows])


def curves(rows: Rows, method: str) -> Spec:
    """Accuracy over n: bands for the method and majority, lines for all; oracles dashed."""
    import altair as alt

    methods = list(dict.fromkeys(row["method"] for row in rows))
    sizes = sorted({row["n"] for row in rows})
    ticks = [n for n in sizes if n & (n - 1) == 0 or n == sizes[-1]]
    x = alt.X("n:Q", title="samples a question (N)", scale=alt.Scale(type="log", base=2), axis=alt.Axis(values=ticks, format="d"))
    tip = [
        alt.Tooltip("method:N"),
        alt.Tooltip("n:Q", title="samples"),
        alt.Tooltip("accuracy:Q", format=".1%"),
        alt.Tooltip("low:Q", format=".1%", title="95 % from"),
        alt.Tooltip("high:Q", format=".1%", title="to"),
    ]
    base = alt.Chart(_data(rows)).encode(x=x, color=_colour(methods))
    y = _percent("accuracy:Q", "accuracy (% of test questions)")
    shown = alt.FieldOneOfPredicate(field="method", oneOf=[method, "majority"])
    bands = base.mark_area(opacity=0.15).encode(y=_percent("low:Q", "accuracy (% of test questions)"), y2="high:Q").transform_filter(shown)
    dashed = alt.condition(alt.FieldOneOfPredicate(field="method", oneOf=sorted(ORACLES)), alt.value([5, 4]), alt.value([1, 0]))
    heavy = alt.condition(alt.FieldEqualPredicate(field="method", equal=method), alt.value(3.5), alt.value(1.8))
    lines = base.mark_line().encode(y=y, strokeDash=dashed, strokeWidth=heavy)
    dots = base.mark_point(size=50, opacity=0, filled=True).encode(y=y, tooltip=tip)
    return _spec(bands, lines, dots, height=360)


def weights(found: Weights, method: str) -> Spec:
    """The weight of a response over its score, the zero-crossings marked."""
    import altair as alt

    x = _score_axis("score:Q", None)
    line = alt.Chart(_data(found.line)).encode(
        x=x, y=alt.Y("weight:Q", title="weight of a response", axis=alt.Axis(minExtent=44)),
        tooltip=[alt.Tooltip("score:Q", format=".3f"), alt.Tooltip("weight:Q", format="+.2f")],
    )  # fmt: skip
    colour = COLOURS.get(method, "#000000")
    areas = [
        line.mark_area(opacity=0.2, color=tint, clip=True).transform_filter(f"datum.weight {sign} 0")
        for tint, sign in ((RIGHT, ">="), (WRONG, "<="))
    ]
    zero = alt.Chart(alt.Data(values=[{"weight": 0}])).mark_rule(color=INK, opacity=0.7).encode(y="weight:Q")
    stroke = line.mark_line(color=colour, strokeWidth=3)
    points = line.mark_point(opacity=0, size=40)
    return _spec(*areas, zero, stroke, points, *_marks(found.crossings, label=True), height=220)


def scores(found: Weights) -> Spec:
    """How often right and wrong responses have a score."""
    import altair as alt

    scale = alt.Scale(domain=["right", "wrong"], range=[RIGHT, WRONG])
    bars = alt.Chart(_data(found.histogram)).mark_bar(opacity=0.55, clip=True).encode(
        x=_score_axis("begin:Q", "score of the verifier (0 to 1)"),
        x2="end:Q",
        y=alt.Y("share:Q", title="% of responses", stack=None, axis=alt.Axis(format=".0%", minExtent=44)),
        color=alt.Color("kind:N", scale=scale, legend=alt.Legend(title="responses that are", orient="top")),
        tooltip=[alt.Tooltip("kind:N"), alt.Tooltip("begin:Q", title="score from"), alt.Tooltip("end:Q", title="to"),
                 alt.Tooltip("share:Q", format=".1%")],
    )  # fmt: skip
    return _spec(bars, *_marks(found.crossings, label=False), height=180)


def _score_axis(field: str, title: str | None) -> Any:
    import altair as alt

    return alt.X(field, title=title, scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(values=[i / 5 for i in range(6)]))


def _marks(crossings: list[float], *, label: bool) -> list[Any]:
    """Dashed rules where the weight is zero."""
    import altair as alt

    if not crossings:
        return []
    rows = [{"at": p, "text": f"b = {p:.3g}", "left": p > 0.75} for p in crossings]
    base = alt.Chart(_data(rows)).encode(x=alt.X("at:Q"))
    rule = base.mark_rule(color=INK, strokeDash=[4, 3])
    texts = [
        base.mark_text(align=side, dx=shift, color=INK, fontWeight="bold", fontSize=12)
        .encode(text="text:N", y=alt.value(12))
        .transform_filter(keep)
        for side, shift, keep in (("left", 6, "!datum.left"), ("right", -6, "datum.left"))
    ]
    return [rule, *texts] if label else [rule]


def offsets(found: Offsets, method: str) -> Spec:
    """Accuracy on the calibration questions over b; the best interval shaded, the chosen b and majority marked."""
    import altair as alt

    x = alt.X("b:Q", title="b (score at which a weight turns negative)")
    y = _percent("accuracy:Q", "accuracy (% of calibration questions)")
    steps = alt.Chart(_data(found.steps)).mark_line(interpolate="step-after", color=COLOURS.get(method, "#000000"), strokeWidth=2.5)
    best = [{"low": low, "high": high} for low, high in found.intervals]
    shade = alt.Chart(_data(best)).mark_rect(color="#009e73", opacity=0.35).encode(x=alt.X("low:Q"), x2="high:Q")
    chosen = [{"b": found.b, "accuracy": found.at_b, "text": f"chosen: b = {found.b:.3g}", "left": found.b > 0.6}]
    base = alt.Chart(_data(chosen)).encode(x=x, y=y, tooltip=[alt.Tooltip("b:Q", format=".4g"), alt.Tooltip("accuracy:Q", format=".1%")])
    dot = base.mark_point(filled=True, size=110, color=INK, opacity=1)
    texts = [
        base.mark_text(align=side, dx=shift, dy=14, color=INK, fontWeight="bold", fontSize=12).encode(text="text:N").transform_filter(keep)
        for side, shift, keep in (("left", 8, "!datum.left"), ("right", -8, "datum.left"))
    ]
    level = alt.Chart(_data([{"accuracy": found.majority, "text": "majority vote"}]))
    rule = level.mark_rule(color=COLOURS["majority"], strokeDash=[5, 4], strokeWidth=2).encode(y=y)
    tag = level.mark_text(align="right", dy=-7, color=INK, fontSize=12).encode(y=y, x=alt.value("width"), text="text:N")
    return _spec(shade, rule, tag, steps.encode(x=x, y=y), dot, *texts)


def reliability(found: Reliability, method: str) -> Spec:
    """Accuracy over confidence, with intervals; the diagonal is a confidence that keeps its word."""
    import altair as alt

    rows = [{**vars(bin)} for bin in found.bins]
    full = alt.Scale(domain=[0, 1])
    x = alt.X("confidence:Q", title="confidence of the verdict (%)", scale=full, axis=alt.Axis(format=".0%"))
    y = alt.Y("accuracy:Q", title="accuracy (% of test questions)", scale=full, axis=alt.Axis(format=".0%"))
    colour = COLOURS.get(method, "#000000")
    base = alt.Chart(_data(rows)).encode(x=x)
    tip = [alt.Tooltip("questions:Q"), alt.Tooltip("confidence:Q", format=".1%"), alt.Tooltip("accuracy:Q", format=".1%")]
    band = base.mark_area(color=colour, opacity=0.15).encode(y=alt.Y("low:Q", scale=full), y2="high:Q")
    bars = base.mark_rule(color=colour, strokeWidth=2).encode(y=alt.Y("low:Q", scale=full), y2="high:Q")
    line = base.mark_line(color=colour, strokeWidth=2).encode(y=y)
    size = alt.Size("questions:Q", legend=alt.Legend(title="questions", orient="top", tickCount=3), scale=alt.Scale(range=[40, 400]))
    dots = base.mark_point(filled=True, opacity=1, color=colour).encode(y=y, size=size, tooltip=tip)
    ends = [{"confidence": 0, "accuracy": 0}, {"confidence": 1, "accuracy": 1}]
    diagonal = alt.Chart(_data(ends)).mark_line(color=INK, strokeDash=[4, 4], opacity=0.6).encode(x=x, y=y)
    return _spec(diagonal, band, bars, line, dots, height=340)


def domains(rows: Rows, method: str) -> Spec:
    """Accuracy by domain: a dot a method, the interval of the method the page is about."""
    import altair as alt

    names = list(dict.fromkeys(row["method"] for row in rows))
    order = list(dict.fromkeys(row["domain"] for row in sorted(rows, key=lambda r: (r["method"] != method, -r["accuracy"]))))
    y = alt.Y("domain:N", sort=order, title=None, axis=alt.Axis(labelLimit=130, grid=True, ticks=False, domain=False))
    x = alt.X("accuracy:Q", title="accuracy (% of test questions)", axis=alt.Axis(format=".0%"))
    tip = [alt.Tooltip("domain:N"), alt.Tooltip("method:N"), alt.Tooltip("accuracy:Q", format=".1%"), alt.Tooltip("questions:Q")]
    base = alt.Chart(_data(rows)).encode(y=y, color=_colour(names))
    own = alt.FieldEqualPredicate(field="method", equal=method)
    bars = base.mark_rule(strokeWidth=3, opacity=0.45).encode(x=alt.X("low:Q"), x2="high:Q").transform_filter(own)
    dots = base.mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.6).encode(
        x=x, tooltip=tip, size=alt.condition(own, alt.value(130), alt.value(65))
    )
    return _spec(bars, dots, height=40 + 26 * len(order))
