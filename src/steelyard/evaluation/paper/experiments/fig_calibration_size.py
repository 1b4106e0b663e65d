"""Figure 3, right: accuracy over the size of the calibration set."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.evaluation.paper.experiment import Experiment, Finding
from steelyard.evaluation.paper.measuring import rights
from steelyard.evaluation.paper.pair_grid import Grid, Pair, Settings
from steelyard.evaluation.percentages import percent, points
from steelyard.foundation.charts.chart_style import HEIGHT, WIDTH, named_lines
from steelyard.voting.method_colours import colour_of

APART = 1.5  # the ratio of two sizes that are both named on the axis
METHODS = ("majority", "vanilla", "kde", "linear", "logit")
TEST = 0.5  # of the questions are the test set; the rest may be calibrated on
SIZES = (12, 25, 50, 100, 200, 400, 800, 1600, 3200)


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    def one(pair: Pair) -> list[dict[str, Any]]:
        reserve, test = pair.pool.split(1 - TEST, seed=settings.seed)
        most = reserve.n_questions
        rows: list[dict[str, Any]] = []
        least = None
        for size in (*(size for size in SIZES if size < most), most):
            draws = [
                np.random.default_rng([settings.seed, run]).permutation(most)[:size] for run in range(settings.runs)
            ]
            sets = [(reserve.take(np.sort(draw)), test) for draw in draws]
            correct = rights(METHODS, sets, seed=settings.seed).mean(axis=1)  # [K, Q]
            least = correct if least is None else least
            common = {"llm": pair.llm, "verifier": pair.verifier, "size": size}
            for name, values, before in zip(METHODS, correct, least, strict=True):
                spread = {
                    "se": _error(values),
                    "gain": float((values - before).mean()),
                    "gain_se": _error(values - before),
                }
                rows.append(common | {"method": name, "accuracy": float(values.mean())} | spread)
        return rows

    return pl.DataFrame(grid.collect(settings, grid.leading, one))


def _error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def averaged(rows: pl.DataFrame) -> pl.DataFrame:
    """The mean over models, where all have that size."""
    models = rows["llm"].n_unique()
    mean = rows.group_by("method", "size", maintain_order=True).agg(
        pl.col("accuracy", "se", "gain", "gain_se").mean(), pl.len()
    )
    return mean.filter(pl.col("len") == models)


def find(rows: pl.DataFrame) -> Finding:
    mean = averaged(rows)
    least, most = mean["size"].to_numpy().min(), mean["size"].to_numpy().max()
    at = {(method, size): accuracy for method, size, accuracy, *_ in mean.iter_rows()}
    last = {row["method"]: row for row in mean.filter(pl.col("size") == most).iter_rows(named=True)}
    gains = {name: last[name]["gain"] for name in ("kde", "linear", "logit")}
    parts = [f"{name} {percent(at[name, least])} to {percent(at[name, most])} %" for name in gains]
    error = float(np.mean(mean["se"].to_numpy()))
    ours = (
        f"From {least} to {most} calibration questions: {', '.join(parts)}; majority {percent(at['majority', most])}, "
        f"vanilla {percent(at['vanilla', most])} % (standard error {percent(error)} a model)."
    )
    rising = [last[name]["gain"] > 2 * last[name]["gain_se"] for name in ("linear", "logit")]
    holds = True if all(rising) else False if min(gains["linear"], gains["logit"]) <= 0 else None
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
        axis=alt.Axis(values=[size for size in sizes if size == sizes[-1] or sizes[-1] / size > APART]),
    )
    values = mean["accuracy"].to_numpy()
    frame = (float(values.min()) - 0.01, float(values.max()) + 0.01)
    scale = alt.Scale(domain=list(frame), nice=False)
    y = alt.Y("accuracy:Q", title="accuracy on the test set", axis=alt.Axis(format=".0%"), scale=scale)
    tips = ["method:N", "size:Q", alt.Tooltip("accuracy:Q", format=".1%")]
    tints = colour_of(list(METHODS)).legend(None)
    line = alt.Chart(mean).mark_line(point=True).encode(x, y, tints, tooltip=tips)
    names = named_lines(mean.rename({"size": "n"}).to_dicts(), METHODS, frame, HEIGHT, colours=tints)
    return alt.layer(line, *names).properties(width=WIDTH, height=HEIGHT)


EXPERIMENT = Experiment(
    description="accuracy over the number of calibration questions",
    where="Figure 3, right",
    paper="Accuracy of the calibrated votes rises further as the calibration set grows to 2,500 "
    "questions (test set 5,000).",
    differs=(
        "Half of the grid's questions are the test set, calibration sets are drawn from the other half: fewer than "
        "the paper's 2,500 unless the grid is large. Where scores carry little, there is little to learn from more "
        "of them."
    ),
    measure=measure,
    find=find,
    draw=draw,
)
