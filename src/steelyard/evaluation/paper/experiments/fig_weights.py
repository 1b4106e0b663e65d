"""Figure 1: score densities and weight functions of six pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from steelyard.evaluation.paper.experiment import Experiment, Finding
from steelyard.evaluation.paper.experiments._weight_functions import SCORES, global_function, zero_crossing
from steelyard.evaluation.paper.measuring import splits
from steelyard.evaluation.paper.pair_grid import Grid, Pair, Settings
from steelyard.evaluation.paper.paper_tables import listed
from steelyard.voting.method_colours import colour
from steelyard.voting.pools.arrays import Ints

PAIRS = 6
BINS = 25
CHANCE = 0.55  # an AUROC within questions below this is hardly better than chance
OUTER = (0.005, 0.995)  # of the scores; the weight function is drawn between
WIDTH = 210
INDENT = 32  # pixels for the labels of every y axis, so that panels stand in line


def spaced(pairs: list[Pair]) -> list[Pair]:
    """Six pairs from the one that discriminates best to the one that does so least."""
    order = sorted(pairs, key=lambda pair: -np.nan_to_num(pair.auroc))
    places = np.unique(np.linspace(0, len(order) - 1, PAIRS).round().astype(int))
    return [order[place] for place in places]


def between(low: float, high: float) -> Ints:
    """The indices of SCORES from low to high; if there are none, the two around them.

    >>> between(0.5004, 0.5006).tolist(), between(0.2, 0.22).tolist()
    ([49, 50], [19, 20, 21])
    """
    inside = np.flatnonzero((low <= SCORES) & (high >= SCORES))
    after = min(max(int(np.searchsorted(SCORES, low)), 1), len(SCORES) - 1)
    return inside if len(inside) else np.array([after - 1, after])


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    def one(pair: Pair) -> list[dict[str, Any]]:
        cal = splits(pair.pool, settings)[0][0]
        _, function = global_function(cal)
        usable = cal.readable & ~np.isnan(cal.known_scores)
        low, high = np.quantile(cal.known_scores[usable], OUTER)
        seen = between(low, high)  # beyond, the densities are guesses
        zero = zero_crossing(function, seen)
        common = {"pair": f"{pair.llm} · {pair.verifier}", "auroc_within": pair.auroc, "zero": zero}
        rows = [common | {"kind": "weight", "score": float(SCORES[i]), "value": float(function[i])} for i in seen]
        for kind, mask in (("right", cal.correct & usable), ("wrong", ~cal.correct & usable)):
            height, edges = np.histogram(cal.known_scores[mask], BINS, (0, 1), density=True)
            middle = (edges[1:] + edges[:-1]) / 2
            rows += [
                common | {"kind": kind, "score": float(p), "value": float(h)}
                for p, h in zip(middle, height, strict=True)
            ]
        return rows

    return pl.DataFrame(grid.collect(settings, spaced(grid.prm), one), infer_schema_length=None)


def find(rows: pl.DataFrame) -> Finding:
    weights = rows.filter(pl.col("kind") == "weight")
    pairs = weights.group_by("pair", maintain_order=True).agg(
        pl.col("zero", "auroc_within").first(), pl.col("value").min().alias("least")
    )
    zeros = pairs.drop_nulls("zero")
    none = pairs.filter(pl.col("zero").is_null())["pair"].to_list()
    crossing = f"from {min(zeros['zero']):.2f} to {max(zeros['zero']):.2f}" if zeros.height else "nowhere"
    ours = f"The weight turns positive at a score {crossing} in {zeros.height} of {pairs.height} pairs"
    ours += f"; it never does for {listed(none)}" if none else ""
    ours += f". Below, weights reach down to {min(pairs['least']):.1f} (natural log of a likelihood ratio)."
    ours += (
        " This is pooled over questions: a low score may mean a hard question rather than a wrong response, and only "
        "the latter helps a vote."
    )
    blind = zeros.filter(pl.col("auroc_within") < CHANCE).height
    also = f", {blind} of them no better than chance within questions" if blind else ""
    holds = zeros.height == pairs.height
    return Finding(
        f"Low scores get negative weights in {zeros.height} of {pairs.height} pairs{also}",
        ours,
        holds,
    )


def draw(rows: pl.DataFrame) -> Any:
    import altair as alt

    panels = []
    for number, ((name,), part) in enumerate(rows.group_by("pair", maintain_order=True)):
        heading = alt.TitleParams(
            str(name),
            subtitle=f"AUROC within questions {part['auroc_within'][0]:.2f}",
            fontSize=12,
            subtitleFontSize=11,
            anchor="start",
        )
        above = _densities(part, words=number == 0).properties(width=WIDTH, height=110, title=heading)
        panels.append(alt.vconcat(above, _weight(part).properties(width=WIDTH, height=120), spacing=4))
    lines = [alt.hconcat(*panels[i : i + 3]) for i in range(0, len(panels), 3)]
    return alt.vconcat(*lines)


def _densities(part: pl.DataFrame, *, words: bool) -> Any:
    """The scores of correct responses upwards, those of wrong ones downwards."""
    import altair as alt

    x = alt.X("score:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(labels=False))
    shown = part.filter(pl.col("kind") != "weight").with_columns(
        height=pl.col("value") * pl.when(pl.col("kind") == "right").then(1).otherwise(-1)
    )
    most = 1.3 * float(shown["value"].to_numpy().max())
    axis = alt.Axis(minExtent=INDENT, tickCount=4, labelExpr="format(abs(datum.value), '~g')")
    y = alt.Y("height:Q", title="density", scale=alt.Scale(domain=[-most, most], nice=False), axis=axis)
    layers = [
        alt.Chart(shown.filter(pl.col("kind") == kind))
        .mark_area(interpolate="step", opacity=shade, color="black")
        .encode(x, y)
        for kind, shade in (("right", 0.7), ("wrong", 0.35))
    ]
    if words:
        labels = pl.DataFrame(
            {"height": [0.85 * most, -0.85 * most], "text": ["correct responses ↑", "wrong responses ↓"]}
        )
        base = alt.Chart(labels).mark_text(align="right", fontSize=11)
        layers.append(base.encode(y=y, x=alt.value(WIDTH), text="text:N"))
    return alt.layer(*layers)


def _weight(part: pl.DataFrame) -> Any:
    """The weight function, what is negative of it shaded and said."""
    import altair as alt

    weight = part.filter(pl.col("kind") == "weight")
    x = alt.X("score:Q", title="score", scale=alt.Scale(domain=[0, 1]))
    low, high = float(weight["value"].to_numpy().min()), float(weight["value"].to_numpy().max())
    room = 0.3 * ((high - low) or 1.0)  # for the words above the line
    scale = alt.Scale(domain=[low - 0.1 * room, high + room], nice=False)
    y = alt.Y("value:Q", title="weight, nats", scale=scale, axis=alt.Axis(minExtent=INDENT, tickCount=4))
    base = alt.Chart(weight).encode(x, y)
    tint = colour("kde")
    shade = base.mark_area(color=tint, opacity=0.5).transform_filter("datum.value <= 0")
    level = alt.Chart(pl.DataFrame({"value": [0.0]})).mark_rule(color="grey").encode(y)
    line = base.mark_line(color=tint, strokeWidth=2.5).encode(tooltip=["score:Q", "value:Q"])
    zero = part["zero"][0]
    text = "never positive" if zero is None else f"turns positive at {zero:.2f}"
    words = alt.Chart(pl.DataFrame({"text": [text]})).mark_text(align="left", baseline="top", fontSize=12)
    layers = [shade, level, line, words.encode(x=alt.value(4), y=alt.value(2), text="text:N")]
    if zero is not None:
        cross = alt.Chart(pl.DataFrame({"score": [zero], "value": [0.0]})).encode(x, y)
        layers.append(cross.mark_point(filled=True, size=50, color="black", opacity=1))
    return alt.layer(*layers)


EXPERIMENT = Experiment(
    description="score densities and weight functions with their zero-crossing, six pairs",
    where="Figure 1",
    paper="On six pairs the optimal weight functions differ greatly, and all give low scores negative weights.",
    differs=(
        "The paper draws six pairs of its choice; ours run from the pair that discriminates best within questions to "
        "the one that does so least. The weight shown is the PRM term, log f1/f0 of the calibration set."
    ),
    measure=measure,
    find=find,
    draw=draw,
)
