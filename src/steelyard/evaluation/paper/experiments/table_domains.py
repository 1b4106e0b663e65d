"""Table 2: accuracy by domain, calibrated within it."""

from __future__ import annotations

import polars as pl

from steelyard.evaluation.paper.experiment import Experiment
from steelyard.evaluation.paper.experiments._measurements import domain_accuracies, domain_finding, domain_table
from steelyard.evaluation.paper.measuring import Split
from steelyard.evaluation.paper.pair_grid import Grid, Pair, Settings
from steelyard.voting.pools.arrays import Bools

SHARE = 1 / 3  # 50 of a task's 150 questions in the paper
NOTE = (
    "Accuracy in %, N = 16 samples (or all there are), averaged over the language models, each with the verifier "
    "that discriminates best within questions. Calibrated on a third of the domain's questions, tested on the rest."
)


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    def sets(pair: Pair, inside: Bools) -> list[Split]:
        return [pair.pool.take(inside).split(SHARE, seed=settings.seed)]

    return domain_accuracies(grid, settings, sets)


EXPERIMENT = Experiment(
    description="accuracy by domain, calibrated on a third of the domain",
    where="Table 2 (MMLU-Pro-CoT-Eval, N = 16)",
    paper=(
        "Calibration helps beyond mathematics: averaged over 11 domains logit has 58.8 %, linear 58.7, vanilla 57.7, "
        "KDE 57.2, best-of-N 57.0, majority 54.6 (optimal 75.9)."
    ),
    differs=(
        "The paper's domains are subjects of MMLU-Pro with about 100 test questions each, where one point is one "
        "question, for one pair; ours average over models. Neither tells methods apart within one domain."
    ),
    measure=measure,
    find=lambda rows: domain_finding(rows, "Calibrated within a domain"),
    show=lambda rows: domain_table(rows, NOTE),
)
