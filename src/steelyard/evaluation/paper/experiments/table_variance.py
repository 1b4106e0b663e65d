"""Appendix: how far the weight function of a single question is from that of the whole set."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from steelyard.evaluation.paper.experiment import Experiment, Finding
from steelyard.evaluation.paper.experiments._weight_functions import (
    Values,
    global_function,
    mixed,
    pseudo,
    question_function,
    scaled,
)
from steelyard.evaluation.paper.measuring import splits
from steelyard.evaluation.paper.pair_grid import Grid, Pair, Settings
from steelyard.evaluation.paper.paper_tables import Shown, by_verifier, count
from steelyard.voting.pools.pool import LabelledPool

NOTE = (
    "Mean squared error between the weight function of the calibration set and that of each test question, both "
    "scaled to (-0.5, 0.5), over scores 0.01 to 0.99; questions with at least three correct and three incorrect. "
    "In brackets: the same for a pseudo-PRM (scores dealt out among all correct and among all incorrect ones), where "
    "all questions have the same true function: what is left is the error of estimating it from few responses."
)


def spread(test: LabelledPool, function: Values) -> list[float]:
    """The squared error of every mixed question's function."""
    return [float(np.mean((scaled(question_function(test, int(q))) - scaled(function)) ** 2)) for q in mixed(test)]


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    def one(pair: Pair) -> list[dict[str, Any]]:
        cal, test = splits(pair.pool, settings)[0]
        _, function = global_function(cal)
        errors, alike = spread(test, function), spread(pseudo(test, settings.seed), function)
        mean = [float(np.mean(values)) if values else None for values in (errors, alike)]
        common = {"llm": pair.llm, "verifier": pair.verifier, "mse": mean[0], "mse_pseudo": mean[1]}
        return [common | {"questions": len(errors)}]

    return pl.DataFrame(grid.collect(settings, grid.prm, one), infer_schema_length=None)


def find(rows: pl.DataFrame) -> Finding:
    complete = rows.drop_nulls()
    if complete.is_empty():
        return Finding("No question has right and wrong responses enough", "Nothing can be said.", None)
    errors, alike = complete["mse"].to_numpy(), complete["mse_pseudo"].to_numpy()
    above = int((errors > alike).sum())
    ours = (
        f"The error is {errors.min():.3f} to {errors.max():.3f}, {errors.mean():.3f} on average. For a pseudo-PRM, "
        f"whose questions are all alike, it is {alike.mean():.3f}: so much comes from estimating a function from one "
        f"question's few responses. It is larger for the real scores in {above} of {count(complete.height, 'pair')}."
    )
    apart, noise = f"{errors.mean():.2f}", f"{alike.mean():.2f}"
    title = f"Questions' own weight functions are {apart} (MSE) from the global one; {noise} if all were alike"
    return Finding(title, ours, bool(errors.mean() > alike.mean() and above > complete.height / 2))


def show(rows: pl.DataFrame) -> Shown:
    def cell(row: dict[str, Any]) -> str:
        return "-" if row["mse"] is None else f"{row['mse']:.3f} ({row['mse_pseudo']:.3f})"

    return Shown(*by_verifier(rows, cell), NOTE)


EXPERIMENT = Experiment(
    description="error between the global and the per-question weight function",
    where="Appendix, table of the MSE of weight functions",
    paper=(
        "Scaled to (-0.5, 0.5) the functions differ by an MSE of 0.101 to 0.465 over 35 pairs: the best function "
        "varies largely between questions."
    ),
    differs=(
        "The paper does not say at which scores it compares; ours are evenly spaced in the score. It has no control; "
        "ours, in brackets, shows what estimating a function from one question's responses costs by itself."
    ),
    measure=measure,
    find=find,
    show=show,
)
