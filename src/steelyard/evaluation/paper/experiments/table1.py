"""Table 1: accuracy of all methods at 32 samples, for every pair."""

from __future__ import annotations

import polars as pl

from steelyard.evaluation.paper.experiment import Experiment
from steelyard.evaluation.paper.experiments._measurements import accuracy_finding, pair_accuracies
from steelyard.evaluation.paper.pair_grid import Grid, Settings
from steelyard.evaluation.paper.paper_tables import by_llm

N = 32


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    return pair_accuracies(grid, grid.prm, settings, min(N, grid.n))


EXPERIMENT = Experiment(
    description="accuracy at N = 32 for every pair, mean and sd over calibration sets",
    where="Table 1 (MATH, N = 32)",
    paper=(
        "Logit weighted voting is best in most of the cases: on average over five LLMs 63.3 % against 60.8 % of "
        "vanilla and 57.1 % of majority (Qwen-PRM-7B), 62.6 against 59.4 (Llama3.1-Mistral-8B), but only 57.6 "
        "against 57.4 with Qwen-PRM800K-7B. Optimal is 61.7 to 68.4 %."
    ),
    differs=(
        "A vote can only gain from a verifier that tells correct from incorrect in a question. The first table says "
        "how well those of this grid do; the paper does not report it for its own, which have 1.5 to 8 billion "
        "parameters. Its ± is over calibration sets alone; ours adds the standard error over questions, which is far "
        "larger."
    ),
    measure=measure,
    find=accuracy_finding,
    show=by_llm,
)
