"""Appendix: the same at the largest number of samples."""

from __future__ import annotations

import polars as pl

from steelyard.evaluation.paper.experiment import Experiment
from steelyard.evaluation.paper.experiments._measurements import accuracy_finding, pair_accuracies
from steelyard.evaluation.paper.pair_grid import Grid, Settings
from steelyard.evaluation.paper.paper_tables import by_llm


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    return pair_accuracies(grid, grid.prm, settings, grid.n)


EXPERIMENT = Experiment(
    description="accuracy at the largest N for every pair",
    where="Appendix, table of N = 112 (MATH500)",
    paper=(
        "With 112 samples logit voting has 59.7 % against 57.3 % of vanilla with Qwen-PRM-7B, 54.9 against 54.2 with "
        "Llama3.1-DS-8B and 54.0 against 54.1 with Qwen-PRM800K-7B, averaged over five LLMs; majority has 53.3 %."
    ),
    differs=(
        "The paper has 112 samples per question and 300 test questions; here it is as many samples as the grid holds. "
        "With more samples majority vote has settled and only a verifier that discriminates can change it."
    ),
    measure=measure,
    find=accuracy_finding,
    show=by_llm,
)
