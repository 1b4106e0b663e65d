"""docs/free.md and its picture, made of the stored figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from docs.accuracy.page import markdown
from steelyard.voting.method_colours import colour

HERE = Path(__file__).parent
NAMES = {
    "best single": "the LLM that the labels choose",
    "majority": "majority of all",
    "consensus": "consensus, no labels",
    "committee": "committee",
    "few-label": "committee, and responses without labels",
}


def stored(name: str) -> pl.DataFrame:
    return pl.read_csv(HERE / f"{name}.csv")


def figures(name: str, key: str, title: str) -> str:
    """A table with a row per value of `key` and a column per way."""
    table = stored(name)
    rows = []
    for value in table[key].unique(maintain_order=True).to_list():
        part = table.filter(pl.col(key) == value)
        cells = {row["way"]: percent(row["accuracy"], row["se"]) for row in part.iter_rows(named=True)}
        rows.append([str(value), *(cells[way] for way in NAMES)])
    return markdown([title, *NAMES.values()], rows)


def percent(share: float, error: float) -> str:
    return f"{100 * share:.1f} ± {100 * error:.1f}"


def confidence_table() -> str:
    table = stored("confidence")
    shares = [name for name in table.columns if name.startswith("accuracy at")]
    head = ["labels", "calibration error, mean of the splits", "of all splits together"]
    head += [f"accuracy, {name.removeprefix('accuracy at ')} answered" for name in shares]
    rows = [
        [str(row["labels"]), f"{row['ece']:.3f}", f"{row['ece of all splits']:.3f}"]
        + [f"{100 * row[name]:.1f}" for name in shares]
        for row in table.iter_rows(named=True)
    ]
    return markdown(head, rows)


def tool_table() -> str:
    table = stored("tools")
    head = ["category", "questions", "compared by", "best LLM in hindsight", *NAMES.values()]
    rows = []
    for (category, kind), part in table.group_by("category", "answers", maintain_order=True):
        cells = {row["way"]: percent(row["accuracy"], row["se"]) for row in part.iter_rows(named=True)}
        compared = "equality" if kind == "json" else "share of equal leaves"
        best = f"{100 * part['best in hindsight'][0]:.1f}"
        rows.append([str(category), str(part["questions"][0]), compared, best, *(cells[way] for way in NAMES)])
    return markdown(head, rows)


def text() -> str:
    """The page."""
    labels = stored("labels")
    at = {(row["labels"], row["way"]): row for row in labels.iter_rows(named=True)}
    few, many = at[50, "committee"], at[200, "committee"]
    error = max(stored("confidence")["ece of all splits"])
    facts = {
        "none": percent(at[200, "consensus"]["accuracy"], at[200, "consensus"]["se"]),
        "fifty": percent(few["accuracy"], few["se"]),
        "fifty_gain": percent(few["gain on best single"], few["gain se"]),
        "many": percent(many["accuracy"], many["se"]),
        "many_gain": percent(many["gain on best single"], many["gain se"]),
        "majority": percent(at[200, "majority"]["accuracy"], at[200, "majority"]["se"]),
        "ece": f"{error:.3f}",
        "ece_one": f"{max(stored('confidence')['ece']):.3f}",
        "labels": figures("labels", "labels", "labels"),
        "sizes": figures("sizes", "llms", "LLMs"),
        "similarities": figures("similarities", "similarity", "similarity"),
        "confidence": confidence_table(),
        "tools": tool_table(),
    }
    return (HERE / "template.md").read_text().format(**facts)


def picture(labels: pl.DataFrame) -> str:
    """Accuracy by number of labels, every line named where it ends."""
    import altair as alt
    import vl_convert

    shown = {"committee": "committee", "consensus": "consensus, no labels", "best single": "best single LLM"}
    shown["majority"] = "majority of all"
    rows: list[dict[str, Any]] = [
        {"method": row["way"], "n": row["labels"], "accuracy": row["accuracy"]}
        | {"low": row["accuracy"] - row["se"], "high": row["accuracy"] + row["se"]}
        for row in labels.iter_rows(named=True)
        if row["way"] in shown
    ]
    sizes = sorted({row["n"] for row in rows})
    domain = alt.Scale(type="log", nice=False, domain=[sizes[0], sizes[-1]])
    x = alt.X("n:Q", title="labelled questions", axis=alt.Axis(values=sizes, format="d"), scale=domain)
    scale = alt.Scale(zero=False, nice=False, padding=12)
    y = alt.Y("accuracy:Q", title="accuracy, ± standard error", scale=scale, axis=alt.Axis(format=".0%", tickCount=6))
    tints = [colour("committee"), colour("consensus"), colour("best-of-n"), colour("majority")]
    colours = alt.Color("method:N", scale=alt.Scale(domain=list(shown), range=tints), legend=None)
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, color=colours)
    bands = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    lines = base.mark_line(strokeWidth=2).encode(y=y)
    ends = [{**row, "name": shown[row["method"]]} for row in rows if row["n"] == sizes[-1]]
    names = alt.Chart(alt.InlineData(values=ends)).mark_text(align="left", dx=6, fontSize=12)
    names = names.encode(x=x, y=y, color=colours, text="name:N")
    chart = (bands + lines + names).properties(
        width=420, height=260, background="#fdfdfb", padding=14, title="500 questions of SimpleQA, 36 LLMs, free text"
    )
    chart = chart.configure_view(strokeWidth=0).configure_axis(gridOpacity=0.4, titleFontWeight="normal")
    return str(vl_convert.vegalite_to_svg(chart.to_json()))
