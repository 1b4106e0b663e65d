"""`python -m benchmarks.growth`: how the cost of a vote grows, in docs/benchmarks.md and docs/growth.svg.

Each point is a process that reads a Parquet file and writes its verdicts. What the same process costs for a table of
one question is subtracted, so that a line shows growth and not the start of Python.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from benchmarks.measuring import Cost, Row, run
from benchmarks.page_sections import PAGE, with_section

STEEPEST = 1.1  # slope on log-log axes
QUESTIONS = 20_000
ROWS = 2_000_000
TITLE = "Growth"
CODE = """
import steelyard as sy
sy.write(sy.vote("{folder}/responses.parquet", {options}), "{folder}/verdicts.parquet", overwrite=True)
"""
PLAN, CONSENSUS = '"{folder}/plan.json"', 'method="consensus", source="llm"'
HEAD = """Made by `python -m benchmarks.growth`: CPU and peak memory of a process from a Parquet file to its verdicts,
minus those for a table of one question. {axes}. A slope is that of the line through the points that cost at least a
tenth of the start of the process ({cpu:.1f} s of CPU, {peak:.0f} MB).

![Four panels on logarithmic axes: CPU and memory by rows, samples, sources and different answers](growth.svg)

"""


@dataclass(frozen=True)
class Axis:
    """What grows, and what a table with so much of it is like."""

    name: str
    text: str  # for the page
    values: tuple[int, ...]
    options: str = PLAN
    reason: str = ""  # for a slope above STEEPEST

    def table(self, value: int) -> pl.LazyFrame:
        """A table with so much of it."""
        if self.name == "rows":
            return responses(value, samples=32, answers=8)
        if self.name == "samples per question":
            return responses(QUESTIONS * value, samples=value, answers=8)
        if self.name == "sources":
            source = ("llm-" + (pl.col("row") % value).cast(pl.String)).alias("llm")
            return responses(QUESTIONS * value, samples=value, answers=8).with_columns(source)
        return responses(ROWS, samples=2 * value, answers=value)


AXES = (
    Axis("rows", "Rows: 32 per question", (10**4, 10**5, 10**6, 10**7, 10**8)),
    Axis("samples per question", f"samples: of each of {QUESTIONS:,} questions", (4, 16, 64, 256, 1024)),
    Axis(
        "sources", f"sources: one response each to {QUESTIONS:,} questions, by consensus", (3, 10, 30, 100), CONSENSUS
    ),
    Axis(
        "different answers per question",
        f"different answers: half as many as samples, in {ROWS:,} rows",
        (10, 10**2, 10**3, 10**4, 10**5),
    ),
)


def responses(rows: int, samples: int, answers: int) -> pl.LazyFrame:
    """Questions of so many samples; every fourth answer is the first, and the others are equally frequent."""
    row = pl.select(row=pl.int_range(rows)).lazy()
    drawn = pl.col("row").hash(1)
    answer = pl.when(drawn % 4 == 0).then(0).otherwise(pl.col("row") % samples % answers)
    return row.with_columns(
        question="q" + (pl.col("row") // samples).cast(pl.String),
        answer=answer.cast(pl.String),
        score=(pl.col("row").hash(2) % 1000 / 1000).cast(pl.Float64),
    )


def measured(axis: Axis, folder: Path) -> Iterator[dict[str, Any]]:
    """The cost of every value of an axis, beyond that of one question."""
    least = _cost(
        axis, responses(8, 8, 4).with_columns(llm=pl.lit("llm-") + (pl.col("row") % 3).cast(pl.String)), folder, 5
    )
    for value in axis.values:
        cost = _cost(axis, axis.table(value), folder, 1 if value * (value > 10**6) else 3)
        more = {"cpu": max(cost.cpu - least.cpu, 0), "peak": max(cost.peak - least.peak, 0)}
        print(f"{axis.name} {value:,}: {more['cpu']:.2f} s of CPU, {more['peak']:.0f} MB", flush=True)
        yield {"axis": axis.name, "value": value, **more, "start_cpu": least.cpu, "start_peak": least.peak}


def _cost(axis: Axis, table: pl.LazyFrame, folder: Path, times: int) -> Cost:
    table.drop("row").sink_parquet(folder / "responses.parquet")
    code = CODE.format(folder=folder, options=axis.options.format(folder=folder))
    costs = [run(code) for _ in range(times)]
    return Cost(min(cost.cpu for cost in costs), min(cost.peak for cost in costs))


def slope(values: Sequence[float], costs: Sequence[float], start: float) -> float | None:
    """The slope of costs on log-log axes, of those that are at least a tenth of the start; None if fewer than two are.

    >>> slope([1, 10, 100], [0.001, 2.0, 20.0], start=1.0)
    1.0
    """
    points = [(value, cost) for value, cost in zip(values, costs, strict=True) if cost >= start / 10]
    if len(points) < 2:
        return None
    x, y = np.log(np.array(points)).T
    return round(float(np.polyfit(x, y, 1)[0]), 2)


def section_rows(found: pl.DataFrame) -> list[Row]:
    """A row for each axis and cost, with its slope."""
    rows = []
    for axis in AXES:
        part = found.filter(pl.col("axis") == axis.name)
        for column, what, unit in (("cpu", "CPU", "{:.2f} s"), ("peak", "memory", "{:.0f} MB")):
            steep = slope(part["value"].to_list(), part[column].to_list(), part[f"start_{column}"][0])
            figure = f"slope {steep:.2f}" if steep is not None else "constant"
            largest = f"{unit.format(part[column][-1])} at {part['value'][-1]:,}"
            met = steep is None or steep <= STEEPEST
            reason = f"; {axis.reason}" if axis.reason and not met else ""
            rows.append(Row(f"{what} by {axis.name}", f"{figure} ({largest}{reason})", f"at most {STEEPEST}", met))
    return rows


def section(found: pl.DataFrame) -> str:
    """The text of the section."""
    rows = section_rows(found)
    table = ["| what | measured | goal | met |", "|---|---|---|---|"]
    table += [f"| {row.what} | {row.figure} | {row.goal} | {'yes' if row.met else '**no**'} |" for row in rows]
    axes = "; ".join(axis.text for axis in AXES)
    return HEAD.format(axes=axes, cpu=found["start_cpu"].min(), peak=found["start_peak"].min()) + "\n".join(table)


def picture(found: pl.DataFrame) -> str:
    """CPU and memory on logarithmic axes, a panel for each axis."""
    import altair as alt
    import vl_convert

    from steelyard.foundation.charts.chart_style import RESERVE, styled

    panels = []
    for axis in AXES:
        part = found.filter(pl.col("axis") == axis.name)
        values = [
            {"value": row["value"], "cost": row[column] / unit, "what": what}
            for row in part.iter_rows(named=True)
            for column, what, unit in (("cpu", "CPU, s", 1), ("peak", "memory, GB", 1000))
            if row[column] > 0
        ]
        x = alt.X(
            "value:Q",
            title=axis.name,
            scale=alt.Scale(type="log", nice=False),
            axis=alt.Axis(format="~s", values=list(axis.values)),
        )
        y = alt.Y("cost:Q", title=None, scale=alt.Scale(type="log"), axis=alt.Axis(format="~g", tickCount=5))
        tint = alt.Color(
            "what:N", title=None, scale=alt.Scale(range=[RESERVE[0], RESERVE[2]]), legend=alt.Legend(orient="top")
        )
        lines = alt.Chart(alt.InlineData(values=values)).encode(x=x, y=y, color=tint)
        panels.append((lines.mark_line() + lines.mark_point(filled=True)).properties(width=250, height=170))
    chart = alt.vconcat(alt.hconcat(*panels[:2]), alt.hconcat(*panels[2:])).properties(background="#fdfdfb", padding=14)
    chart = styled(chart, title="The cost of a vote grows no faster than its rows")
    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def rows() -> list[Row]:
    """Measure all axes and write the section and its picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        labelled = responses(3200, 32, 8).with_columns(correct=pl.col("answer") == "0").drop("row").collect()
        sy.LogitVote().fit(sy.read(labelled)).save(folder / "plan.json")
        found = pl.DataFrame([row for axis in AXES for row in measured(axis, folder)])
    found.write_csv(PAGE.parent / "growth.csv")
    write(found)
    return section_rows(found)


def write(found: pl.DataFrame) -> None:
    (PAGE.parent / "growth.svg").write_text(picture(found))
    PAGE.write_text(with_section(PAGE.read_text(), TITLE, section(found)))


if __name__ == "__main__":
    if sys.argv[1:] == ["--stored"]:
        write(pl.read_csv(PAGE.parent / "growth.csv"))
    else:
        for each in rows():
            print(f"{'ok  ' if each.met else 'MISS'} {each.what}: {each.figure}, goal {each.goal}")
