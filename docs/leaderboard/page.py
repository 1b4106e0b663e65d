"""docs/leaderboard.md and its picture, made of the stored figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from docs.accuracy.page import markdown
from steelyard.evaluation.set_results import holm
from steelyard.voting.method_colours import colour

HERE = Path(__file__).parent
SCORED = ("grid", "public")  # the groups of sets with scores
TITLES = {"grid": "bundled pairs", "public": "public sets", "committees": "sets of several LLMs"}
SIGNIFICANT = 0.05
KEY = ("labels", "n", "method")
SHOWN = (50, 16)  # labels and samples of the picture and the summary


def stored(name: str) -> pl.DataFrame:
    return pl.read_csv(HERE / f"{name}.csv")


def gain(row: dict[str, Any], best: float) -> str:
    """A gain with its error, bold if no other is larger, starred if it differs from the default."""
    value = f"{100 * row['gain']:+.1f}"
    bold = f"**{value}**" if row["gain"] >= best else value
    return f"{bold} ± {100 * row['gain_se']:.1f}{'*' if row['p'] < SIGNIFICANT else ''}"


def board(name: str, labels: int) -> str:
    """The table of one group of sets with some number of labels."""
    table = stored(name).filter(labels=labels)
    match = stored(f"{name}_match")
    needed = dict(match.filter(labels=labels).select("method", "samples").iter_rows()) if match.height else {}
    sizes = sorted(table["n"].unique())
    cells = {(row["method"], row["n"]): row for row in table.iter_rows(named=True)}
    best = {n: max(row["gain"] for (_, size), row in cells.items() if size == n) for n in sizes}
    means = (
        table.group_by("method", maintain_order=True)
        .agg(pl.col("gain", "rank").mean())
        .sort("gain", descending=True, maintain_order=True)
    )
    rows = []
    for method, _, rank in means.iter_rows():
        at = [cells.get((method, n)) for n in sizes]
        last = next(row for row in reversed(at) if row is not None)
        samples = needed.get(method)
        rows.append(
            [f"**{method}** (default)" if last["default"] else method]
            + ["" if row is None else gain(row, best[row["n"]]) for row in at]
            + [f"{rank:.1f}", f"{100 * last['worst']:+.1f} ({last['worst_set']})"]
            + ["-" if not needed else "never" if samples is None else f"{samples:.0f}", f"{last['microseconds']:.3f}"]
        )
    counts = {n: table.filter(n=n)["sets"][0] for n in sizes}
    heads = ["method", *(f"n = {n} ({counts[n]} sets)" for n in sizes), "mean rank", "worst set", "n to match", "µs"]
    return markdown(heads, rows)


def boards(name: str) -> str:
    """All tables of a group, each under its number of labels."""
    counts = sorted(stored(name)["labels"].unique())
    return "\n\n".join(f"### {labels or 'No'} labels, {TITLES[name]}\n\n{board(name, labels)}" for labels in counts)


def overall(groups: Sequence[str]) -> pl.DataFrame:
    """The mean gain over all sets of some groups, whose questions differ, by labels, n and method."""
    both = pl.concat([stored(name) for name in groups]).with_columns(
        share=pl.col("sets") / pl.col("sets").sum().over(KEY)
    )
    return both.group_by(*KEY, maintain_order=True).agg(
        gain=(pl.col("share") * pl.col("gain")).sum(),
        se=((pl.col("share") * pl.col("gain_se")) ** 2).sum().sqrt(),
        difference=(pl.col("share") * pl.col("to_default")).sum(),
        difference_se=((pl.col("share") * pl.col("to_default_se")) ** 2).sum().sqrt(),
        sets=pl.col("sets").sum(),
        default=pl.col("default").first(),
    )


def against_default(groups: Sequence[str]) -> str:
    """The default beside the best other method, over all sets of some groups."""
    rows = []
    for (labels, n), part in overall(groups).group_by("labels", "n", maintain_order=True):
        own = part.filter("default").row(0, named=True)
        others = part.filter(~pl.col("default")).sort("gain", descending=True, maintain_order=True)
        other, p = others.row(0, named=True), holm(p_values(others))[0]
        names = [str(labels), str(n), str(own["sets"]), own["method"]]
        difference = points(-other["difference"], other["difference_se"])
        gains = points(own["gain"], own["se"]), points(other["gain"], other["se"])
        rows.append([*names, gains[0], other["method"], gains[1], difference, f"{p:.2f}" if p >= 0.01 else "< 0.01"])
    heads = ["labels", "n", "sets", "default", "gain", "best other", "its gain", "default minus that", "p"]
    return markdown(heads, rows, text=4)


def p_values(methods: pl.DataFrame) -> list[float]:
    """Two-sided, of the difference of each method to the default."""
    pairs = methods.select("difference", "difference_se").iter_rows()
    return [math.erfc(abs(value) / error / math.sqrt(2)) if error > 0 else 1.0 for value, error in pairs]


def points(value: float, error: float) -> str:
    return f"{100 * value:+.1f} ± {100 * error:.1f}"


def facts() -> dict[str, str]:
    """The figures of the summary."""
    values = {name: boards(name) for name in TITLES} | {
        "overall": against_default(SCORED),
        "of_sources": against_default(("committees",)),
    }
    for name in SCORED:
        table = stored(name).filter(labels=SHOWN[0], n=SHOWN[1])
        default = table.filter("default").row(0, named=True)
        rest = table.filter(~pl.col("default") & (pl.col("method") != "majority"))
        second = rest.sort("gain", descending=True, maintain_order=True).row(0, named=True)
        values |= {
            f"{name}_default": f"{100 * default['gain']:+.1f} ± {100 * default['gain_se']:.1f}",
            f"{name}_second": second["method"],
            f"{name}_second_gain": f"{100 * second['gain']:+.1f} ± {100 * second['gain_se']:.1f}",
            f"{name}_worst": f"{100 * default['worst']:+.1f}",
            f"{name}_sets": str(default["sets"]),
            f"{name}_bon": f"{100 * table.filter(method='best-of-n')['worst'][0]:+.1f}",
        }
        zero = stored(name).filter(labels=0, n=SHOWN[1])
        best = zero.sort("gain", descending=True, maintain_order=True).row(0, named=True)
        own = zero.filter("default").row(0, named=True)
        values |= {
            f"{name}_free": own["method"],
            f"{name}_free_gain": f"{100 * own['gain']:+.1f} ± {100 * own['gain_se']:.1f}",
            f"{name}_free_best": best["method"],
            f"{name}_free_best_gain": f"{100 * best['gain']:+.1f} ± {100 * best['gain_se']:.1f}",
        }
    return values


def text() -> str:
    """The page."""
    return (HERE / "template.md").read_text().format(**facts())


def picture() -> str:
    """The gain of every method with 50 labels and 16 samples, on both groups of sets."""
    import altair as alt
    import vl_convert

    rows = []
    for name in SCORED:
        title = TITLES[name]
        table = stored(name).filter((pl.col("method") != "majority"), labels=SHOWN[0], n=SHOWN[1])
        rows += [
            {"sets": f"{row['sets']} {title}", "method": row["method"], "gain": 100 * row["gain"]}
            | {"low": 100 * (row["gain"] - 2 * row["gain_se"]), "high": 100 * (row["gain"] + 2 * row["gain_se"])}
            for row in table.iter_rows(named=True)
        ]
    groups = {sets: [row for row in rows if row["sets"] == sets] for sets in dict.fromkeys(row["sets"] for row in rows)}
    order = [row["method"] for row in sorted(next(iter(groups.values())), key=lambda row: -row["gain"])]
    tint = alt.condition("datum.method == 'calibrated'", alt.value(colour("calibrated")), alt.value("#888"))
    x = alt.X("low:Q", title="gain over majority vote, points ± 2 standard errors")
    zero = alt.Chart(alt.InlineData(values=[{"at": 0}])).mark_rule(strokeDash=[3, 3], color="#555").encode(x="at:Q")
    panels = []
    for i, (sets, values) in enumerate(groups.items()):
        axis = alt.Axis(grid=True, gridOpacity=0.3, labels=i == 0, ticks=i == 0)
        base = alt.Chart(alt.InlineData(values=values)).encode(y=alt.Y("method:N", sort=order, title=None, axis=axis))
        bars = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q", color=tint)
        dots = base.mark_point(filled=True, size=60, opacity=1).encode(x="gain:Q", color=tint)
        panels.append((zero + bars + dots).properties(width=250, height=300, title=sets))
    chart = alt.hconcat(*panels).properties(background="#fdfdfb", padding=14)
    chart = chart.configure_view(strokeWidth=0).configure_axis(titleFontWeight="normal")
    return str(vl_convert.vegalite_to_svg(chart.to_json()))
