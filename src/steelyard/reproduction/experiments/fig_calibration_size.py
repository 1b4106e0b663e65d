"""Figure 3, right: accuracy over the size of the calibration set."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from steelyard.report.style import HEIGHT, WIDTH, colour_of
from steelyard.reproduction.experiment import Experiment, Finding
from steelyard.reproduction.grid import Grid
from steelyard.reproduction.measuring import rights
from steelyard.reproduction.settings import Settings
from steelyard.reproduction.words import percent, points

METHODS = ("majority", "vanilla", "kde", "linear", "logit")
TEST = 0.5  # of the questions are the test set; the rest may be calibrated on
SIZES = (12, 25, 50, 100, 200, 400, 800, 1600, 3200)


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    rows = []
    for pair in settings.each(grid.leading):
        reserve, test = pair.pool.split(1 - TEST, seed=settings.seed)
        most = reserve.n_questions
        for size in (*(size for size in SIZES if size < most), most):
            orders = [
                np.random.default_rng([settings.seed, run]).permutation(most)[:size] for run in range(settings.runs)
            ]
            values = rights(METHODS, [(reserve.take(np.sort(order)), test) for order in orders], seed=settings.seed)
            about = {"llm": pair.llm, "verifier": pair.verifier, "size": size}
            for name, right in zip(METHODS, values, strict=True):
                each = right.mean(axis=0)
                rows.append(
                    about
                    | {
                        "method": name,
                        "accuracy": float(each.mean()),
                        "se": float(each.std(ddof=1) / np.sqrt(len(each))),
                    }
                )
    return pl.DataFrame(rows)


def averaged(rows: pl.DataFrame) -> pl.DataFrame:
    """The mean over models, where all have that size."""
    models = rows["llm"].n_unique()
    mean = rows.group_by("method", "size", maintain_order=True).agg(pl.col("accuracy", "se").mean(), pl.len())
    return mean.filter(pl.col("len") == models)


def find(rows: pl.DataFrame) -> Finding:
    mean = averaged(rows)
    least, most = mean["size"].to_numpy().min(), mean["size"].to_numpy().max()
    at = {(method, size): accuracy for method, size, accuracy, *_ in mean.iter_rows()}
    gains = {name: at[name, most] - at[name, least] for name in ("kde", "linear", "logit")}
    parts = [f"{name} {percent(at[name, least])} to {percent(at[name, most])} %" for name in gains]
    error = float(np.mean(mean["se"].to_numpy()))
    ours = (
        f"From {least} to {most} calibration questions: {', '.join(parts)}; majority "
        f"{percent(at['majority', most])}, vanilla "
        f"{percent(at['vanilla', most])} % (standard error {percent(error)} a model)."
    )
    holds = gains["linear"] > 0 and gains["logit"] > 0
    return Finding(
        f"{most} instead of {least} calibration questions: logit {points(gains['logit'])}, linear "
        f"{points(gains['linear'])} points",
        ours,
        holds,
    )


def draw(rows: pl.DataFrame) -> Any:
    import altair as alt

    mean = averaged(rows)
    sizes = sorted(set(mean["size"]))
    x = alt.X(
        "size:Q",
        title="calibration questions",
        scale=alt.Scale(type="log", domain=[sizes[0], sizes[-1]]),
        axis=alt.Axis(values=sizes),
    )
    y = alt.Y("accuracy:Q", title="accuracy on the test set", axis=alt.Axis(format=".1%"), scale=alt.Scale(zero=False))
    tips = ["method:N", "size:Q", alt.Tooltip("accuracy:Q", format=".1%")]
    line = alt.Chart(mean).mark_line(point=True).encode(x, y, colour_of(list(METHODS)), tooltip=tips)
    return line.properties(width=WIDTH, height=HEIGHT)


EXPERIMENT = Experiment(
    what="accuracy over the number of calibration questions",
    where="Figure 3, right",
    paper="Accuracy of the calibrated votes rises further as the calibration set grows to 2,500 "
    "questions (test set 5,000).",
    differs=(
        "Our grid has fewer questions: half of them are the test set and calibration sets are drawn "
        "from the other half. "
        "Where scores carry little, there is little to learn from more of them."
    ),
    measure=measure,
    find=find,
    draw=draw,
)
