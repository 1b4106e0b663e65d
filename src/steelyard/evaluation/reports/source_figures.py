"""The section of the page about the sources of a committee: two charts with titles and notes, and a table."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from steelyard.evaluation.percentages import percent
from steelyard.evaluation.reports.html_parts import folded_table
from steelyard.evaluation.reports.sentences import named, outcome, points
from steelyard.evaluation.reports.source_details import (
    LONGEST,
    SourceDetails,
    error_rows,
    nearest,
    short_names,
    telling,
)
from steelyard.foundation.charts.figures import INK, Spec, inline, layered
from steelyard.voting.method_colours import colour

Figure = Callable[..., str]
FEW = 12  # sources; the cells of more are too small for figures
CELL, LEAST = 17, 34  # pixels of a row: the least, and with few sources
SHORTER = 22  # characters of a name beside a scale that also needs room
NAME = 190  # pixels of a name
FAINTEST, STRONGEST = 0.06, 1.0  # how much of the colour the lowest and the highest share have


def source_figures(details: SourceDetails, figure: Figure) -> list[str]:
    """Both figures with their heading, in the order of the page."""
    left = details.sources - len(details.weights)
    fewer = f" The {len(details.weights)} heaviest of {details.sources} sources." if left else ""
    silent = len(details.weights) - len(telling(details))
    quiet = f" The {silent} others change nothing: the table has them." if silent else ""
    return [
        "<h2>What each source adds</h2>",
        figure(
            "losses",
            losses_title(details),
            "On the test questions, the weights of the others learned anew; bars: 95 % over questions, paired."
            f"{quiet}{fewer}",
            losses(details),
            after=_table(details),
        ),
        "<h2>Who errs with whom</h2>",
        figure(
            "errors",
            errors_title(details),
            "Of the test questions in which both are wrong, the share in which they give the same wrong answer. "
            f"Sources that err together stand together; pairs that are rarely wrong together are blank.{fewer}",
            errors(details),
            width=least_width(details),
        ),
    ]


def losses_title(details: SourceDetails) -> str:
    """The finding of the leave-one-out."""
    needed = [name for name, lost in details.lost.items() if outcome(lost) == "better"]
    harmful = [name for name, lost in details.lost.items() if outcome(lost) == "worse"]
    worst = max(details.lost, key=lambda name: (details.lost[name], name))
    if not needed:
        title = f"No source of {len(details.lost)} is missed for certain: the others make up for any one of them"
    else:
        lost = details.lost[worst]
        title = (
            f"Without {worst} {named(details.method)} loses {percent(float(lost))} points; {len(needed)} of "
            f"{len(details.lost)} sources would be missed for certain"
        )
    more = f" and {len(harmful) - 3} more" if len(harmful) > 3 else ""
    return title + (f", and the vote would be better without {', '.join(harmful[:3])}{more}" if harmful else "")


def errors_title(details: SourceDetails) -> str:
    """The finding of the picture of errors."""
    pair = details.pair
    if pair is None:
        return "No two sources repeat each other's errors clearly more than the others do"
    return (
        f"{pair.first} and {pair.second} repeat each other: when both are wrong they give the same answer in "
        f"{100 * pair.share:.0f} % of {pair.questions} questions, others in {100 * pair.expected:.0f} %"
    )


def _table(details: SourceDetails) -> str:
    """Both pictures as figures."""
    rows = []
    for name, weight in details.weights.items():
        lost, near = details.lost[name], nearest(details, name)
        cells = [f"{weight:.2f}", points(lost), f"{points(lost.low)} to {points(lost.high)}"]
        cells += ["–", "–", "–"] if near is None else [near[0], *(percent(share, 0, "–") for share in near[1:])]
        columns = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f"<tr><th scope=row><bdi>{escape(name)}</bdi></th>{columns}</tr>")
    heads = [
        "source",
        "weight",
        "points lost without it",
        "95 % interval",
        "errs most with",
        "same answer %",
        "others %",
    ]
    caption = "What each source weighs and adds, and with whom it shares its errors"
    return folded_table(caption, heads, "".join(rows))


def errors(details: SourceDetails) -> Spec:
    """Every two sources: the stronger the colour, the more often they give the same answer when both are wrong."""
    import altair as alt

    rows, count = error_rows(details), len(details.order)
    shares = [row["share"] for row in rows if "share" in row]
    top = max(shares, default=1.0)
    order = alt.EncodingSortField("row", op="min")
    across = alt.EncodingSortField("column", op="min")
    named = alt.Axis(labelLimit=NAME, ticks=False, domain=False, grid=False, labelFontSize=12 if count <= 25 else 11)
    upright = alt.Axis(
        labelLimit=NAME, ticks=False, domain=False, grid=False, orient="top", labelAngle=-60 if count <= FEW else -90,
        labelAlign="left", labelBaseline="middle", labelFontSize=12 if count <= 25 else 11,
    )  # fmt: skip
    y = alt.Y("label:N", sort=order, title=None, axis=named)
    x = alt.X("over:N", sort=across, title=None, axis=upright)
    strength = alt.Opacity(
        "share:Q",
        scale=alt.Scale(type="pow", exponent=1.2, domain=[0, top], range=[FAINTEST, STRONGEST]),
        legend=alt.Legend(
            title="same answer when both are wrong", format=".0%", orient="bottom", direction="horizontal",
            symbolType="square", symbolSize=220, symbolFillColor=colour(details.method), symbolStrokeWidth=0,
            values=[0, round(top / 2, 2), top],
            titleLimit=0,
        ),
    )  # fmt: skip
    tip = [
        alt.Tooltip("source:N", title="source"),
        alt.Tooltip("other:N", title="and"),
        alt.Tooltip("both:Q", title="both wrong, questions"),
        alt.Tooltip("share:Q", format=".0%", title="the same wrong answer"),
        alt.Tooltip("expected:Q", format=".0%", title="others on these questions"),
    ]
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    is_measured = "isValid(datum.share)"
    cells = base.mark_rect(color=colour(details.method), cornerRadius=2).encode(opacity=strength, tooltip=tip)
    layers = [cells.transform_filter(is_measured)]
    if count <= FEW:
        figures = base.mark_text(color=INK, fontSize=12).encode(text=alt.Text("share:Q", format=".0%"))
        layers.append(figures.transform_filter(is_measured))
    return layered(*layers, height=count * cell(count))


def cell(count: int) -> int:
    """The height of a row of so many sources, in pixels."""
    return CELL + (LEAST - CELL) * max(0, FEW - count) // FEW if count <= FEW else CELL


def least_width(details: SourceDetails) -> int:
    """The width in pixels below which the picture of errors is scrolled and not squeezed."""
    names = min(NAME, 8 * max(map(len, short_names(details.order, LONGEST).values())))
    return names + 10 + len(details.order) * (40 if len(details.order) <= FEW else CELL - 1)


def losses(details: SourceDetails) -> Spec:
    """The accuracy lost without each source, a dot with its interval, and its weight; heaviest first."""
    import altair as alt

    shown = telling(details)
    label = short_names(shown, SHORTER)
    rows = [
        {
            "source": name, "label": label[name], "place": i, "weight": details.weights[name],
            "text": f"{details.weights[name]:.2f}", "lost": 100 * float(details.lost[name]),
            "low": 100 * details.lost[name].low, "high": 100 * details.lost[name].high,
        }
        for i, name in enumerate(shown)
    ]  # fmt: skip
    order = alt.EncodingSortField("place", op="min")
    y = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=NAME, grid=True, ticks=False, domain=False))
    x = alt.X("lost:Q", title="accuracy lost without it (points)", axis=alt.Axis(format=".1~f", tickCount=6))
    tip = [
        alt.Tooltip("source:N"),
        alt.Tooltip("weight:Q", format=".2f"),
        alt.Tooltip("lost:Q", format="+.1f", title="points lost without it"),
        alt.Tooltip("low:Q", format="+.1f", title="95 % from"),
        alt.Tooltip("high:Q", format="+.1f", title="to"),
    ]
    tint = colour(details.method)
    base = alt.Chart(inline(rows)).encode(y=y)
    zero = alt.Chart(inline([{"lost": 0}])).mark_rule(color=INK, opacity=0.6).encode(x=alt.X("lost:Q"))
    bars = base.mark_rule(strokeWidth=3, opacity=0.45, color=tint).encode(x=alt.X("low:Q"), x2="high:Q")
    dots = base.mark_point(filled=True, opacity=1, size=80, color=tint).encode(x=x, tooltip=tip)
    column = base.mark_text(align="right", dx=44, color=INK, fontSize=12).encode(x=alt.value("width"), text="text:N")
    head = alt.Chart(inline([{"text": "weight"}])).mark_text(align="right", dx=44, dy=-8, color=INK, fontSize=12)
    heading = head.encode(x=alt.value("width"), y=alt.value(0), text="text:N")
    return layered(zero, bars, dots, column, heading, height=max(2, len(rows)) * 22)
