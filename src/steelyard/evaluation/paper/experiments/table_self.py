"""Appendix: scores the language model gives itself."""

from __future__ import annotations

import polars as pl

from steelyard.evaluation.paper.experiment import Experiment, Finding
from steelyard.evaluation.paper.experiments._measurements import pair_accuracies
from steelyard.evaluation.paper.pair_grid import Grid, Settings
from steelyard.evaluation.paper.paper_tables import averages, beyond_chance, by_llm, count, percents
from steelyard.evaluation.percentages import points
from steelyard.foundation.errors import TableError


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    own = [pair for pair in grid.pairs if pair.own]
    if not own:
        raise TableError("no verifier's name begins with 'self': there are no self-assessments to aggregate")
    return pair_accuracies(grid, own, settings, grid.n)


def find(rows: pl.DataFrame) -> Finding:
    parts, holds = [], []
    for (verifier,), part in rows.group_by("verifier", maintain_order=True):
        mean = averages(part)
        above, below = beyond_chance(part)
        holds.append(mean["logit"] > max(mean["vanilla"], mean["majority"], mean["best-of-n"]) and above >= below)
        parts.append(
            f"{verifier}: {percents(mean, ('best-of-n', 'majority', 'vanilla', 'linear', 'logit'))} % (logit two "
            f"standard errors above vanilla for {count(above, 'model')}, below for {below})"
        )
    gain = averages(rows)["logit"] - averages(rows)["vanilla"]
    title = f"On self-assessments logit voting changes vanilla's accuracy by {points(gain)} points on average"
    return Finding(title, "; ".join(parts) + ".", all(holds))


EXPERIMENT = Experiment(
    description="self-verification: the model's own confidence as the score",
    where="Appendix, table of CISC's P(True)",
    paper="With P(True) as the score: best-of-N 36.7, majority 61.3, vanilla 61.3, KDE 61.3, linear "
    "61.7, logit 62.0 %.",
    differs=(
        "The paper asks one instruction-tuned model for P(True) on MATH500; its gains (0.7 points at best) are below "
        "the standard error of 300 questions. A model that was never trained to judge itself has little to tell."
    ),
    measure=measure,
    find=find,
    show=by_llm,
)
