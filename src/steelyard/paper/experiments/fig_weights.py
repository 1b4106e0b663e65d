"""Figure 1: score densities and weight functions of six pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from steelyard.paper.experiment import Experiment, Finding
from steelyard.paper.experiments._functions import SCORES, global_function, zero_crossing
from steelyard.paper.figures_in_words import listed
from steelyard.paper.measuring import splits
from steelyard.paper.pair_grid import Grid, Pair
from steelyard.paper.settings import Settings
from steelyard.reports.style import RIGHT, WRONG

PAIRS = 6
BINS = 25
OUTER = (0.005, 0.995)  # of the scores; the weight function is drawn between
WIDTH = 210
CROSS = "M-1,-1L1,1M-1,1L1,-1"
INDENT = 32  # pixels for the labels of every y axis, so that panels stand in line


def spaced(pairs: list[Pair]) -> list[Pair]:
    """Six pairs from the one that discriminates best to the one that does so least."""
    order = sorted(pairs, key=lambda pair: -np.nan_to_num(pair.auroc))
    places = np.unique(np.linspace(0, len(order) - 1, PAIRS).round().astype(int))
    return [order[place] for place in places]


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    def one(pair: Pair) -> list[dict[str, Any]]:
        cal = splits(pair.pool, settings)[0][0]
        _, function = global_function(cal)
        known = cal.readable & ~np.isnan(cal.known_scores)
        low, high = np.quantile(cal.known_scores[known], OUTER)
        seen = np.flatnonzero((low <= SCORES) & (high >= SCORES))  # beyond, the densities are guesses
        zero = zero_crossing(function, seen)
        about = {"pair": f"{pair.llm} · {pair.verifier}", "auroc_within": pair.auroc, "zero": zero}
        rows = [about | {"kind": "weight", "score": float(SCORES[i]), "value": float(function[i])} for i in seen]
        for kind, mask in (("right", cal.correct & known), ("wrong", ~cal.correct & known)):
            height, edges = np.histogram(cal.known_scores[mask], BINS, (0, 1), density=True)
            middle = (edges[1:] + edges[:-1]) / 2
            rows += [
                about | {"kind": kind, "score": float(p), "value": float(h)}
                for p, h in zip(middle, height, strict=True)
            ]
        return rows

    return pl.DataFrame(grid.collect(settings, spaced(grid.prm), one), infer_schema_length=None)


def find(rows: pl.DataFrame) -> Finding:
    weights = rows.filter(pl.col("kind") == "weight")
    pairs = weights.group_by("pair", maintain_order=True).agg(
        pl.col("zero").first(), (pl.col("value") < 0).mean().alias("negative"), pl.col("value").min().alias("least")
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
    holds = zeros.height == pairs.height
    return Finding(
        f"Low scores get negative weights in {zeros.height} of {pairs.height} pairs; zero-crossing {crossing}",
        ours,
        holds,
    )


def draw(rows: pl.DataFrame) -> Any:
    import altair as alt

    panels = []
    axis = alt.Axis(minExtent=INDENT, tickCount=4)
    for (name,), part in rows.group_by("pair", maintain_order=True):
        x = alt.X("score:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(labels=False))
        colour = alt.Color(
            "kind:N", scale=alt.Scale(domain=["right", "wrong"], range=[RIGHT, WRONG]), title="responses"
        )
        scores = alt.Chart(part.filter(pl.col("kind") != "weight")).mark_area(
            interpolate="step", opacity=0.45, line=True
        )
        density = scores.encode(
            x, alt.Y("value:Q", title="density", stack=None, scale=alt.Scale(type="sqrt"), axis=axis), colour
        )
        weight = part.filter(pl.col("kind") == "weight")
        under = alt.X("score:Q", title="score", scale=alt.Scale(domain=[0, 1]))
        line = (
            alt.Chart(weight)
            .mark_line(color="black")
            .encode(under, alt.Y("value:Q", title="weight, nats", axis=axis), tooltip=["score:Q", "value:Q"])
        )
        level = alt.Chart(pl.DataFrame({"y": [0.0]})).mark_rule(color="grey", strokeDash=[3, 3]).encode(y="y:Q")
        layers = [level, line]
        zero = part["zero"][0]
        if zero is not None:
            cross = pl.DataFrame({"score": [zero], "value": [0.0], "text": [f"{zero:.2f}"]})
            base = alt.Chart(cross).encode(x="score:Q", y="value:Q")
            layers.append(base.mark_point(shape=CROSS, size=60, color=WRONG, strokeWidth=3, opacity=1))
            layers.append(base.mark_text(dy=-12, color=WRONG, fontSize=12).encode(text="text:N"))
        heading = alt.TitleParams(
            str(name),
            subtitle=f"AUROC within questions {part['auroc_within'][0]:.2f}",
            fontSize=12,
            subtitleFontSize=11,
            anchor="start",
        )
        panels.append(
            alt.vconcat(
                density.properties(width=WIDTH, height=80, title=heading),
                alt.layer(*layers).properties(width=WIDTH, height=110),
                spacing=4,
            ).resolve_scale(color="shared")
        )
    lines = [alt.hconcat(*panels[i : i + 3]) for i in range(0, len(panels), 3)]
    return alt.vconcat(*lines)


EXPERIMENT = Experiment(
    what="score densities and weight functions with their zero-crossing, six pairs",
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
