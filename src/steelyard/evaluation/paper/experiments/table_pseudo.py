"""Appendix: a pseudo-PRM whose scores do not depend on the question."""

from __future__ import annotations

from typing import Any

import polars as pl

from steelyard.evaluation.paper.experiment import Experiment, Finding
from steelyard.evaluation.paper.experiments._weight_functions import pseudo
from steelyard.evaluation.paper.measuring import BASELINES, ORACLES, accuracies
from steelyard.evaluation.paper.pair_grid import Grid, Pair, Settings
from steelyard.evaluation.paper.paper_tables import averages, best, by_llm, listed, percents
from steelyard.evaluation.percentages import percent, points

METHODS = (*ORACLES, *BASELINES, "kde-printed", "kde", "kde-fitted", "linear", "logit")
NOTE = (
    "Accuracy in %: mean ± sd over calibration sets (standard error over test questions). The pseudo-PRM: the scores "
    "of the model's most discriminating verifier, dealt out again among all correct and among all incorrect responses. "
    "kde-fitted: the densities with one fitted constant in place of the LLM term. Bold: best without test labels."
)


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    def one(pair: Pair) -> list[dict[str, Any]]:
        dealt = Pair(pair.llm, "pseudo-PRM", pseudo(pair.pool, settings.seed))
        return [row | {"scores_of": pair.verifier} for row in accuracies(dealt, METHODS, settings, grid.n)]

    return pl.DataFrame(grid.collect(settings, grid.leading, one))


def find(rows: pl.DataFrame) -> Finding:
    mean = averages(rows)
    kde, parametric = max(mean["kde"], mean["kde-printed"]), max(mean["linear"], mean["logit"])
    holds = kde > parametric
    constant = mean["kde-fitted"] - kde
    ours = (
        f"With scores that follow one distribution for correct and one for incorrect responses: kde as printed "
        f"{percent(mean['kde-printed'])}, kde {percent(mean['kde'])}, kde with a fitted constant "
        f"{percent(mean['kde-fitted'])}, "
        f"{percents(mean, ('linear', 'logit', 'vanilla', 'majority', 'best-of-n'))} %. Best: {listed(best({**mean}))}. "
        f"One fitted constant in place of the LLM term changes kde by {points(constant)} points: its log(m - 1) "
        "supposes that wrong answers are equally likely and overshoots where they repeat."
    )
    verb = "beats" if holds else "does not beat"
    title = f"On a pseudo-PRM kde {verb} the parametric votes ({points(kde - parametric)} points)"
    return Finding(title, ours, holds)


EXPERIMENT = Experiment(
    description="pseudo-PRM: one score distribution for right, one for wrong responses",
    where="Appendix, table of the pseudo-PRM",
    paper=(
        "When scores follow the same distributions for all questions KDE wins: 57.1 % on average against 55.8 of "
        "logit, 55.5 of linear, 54.9 of vanilla, 53.3 of majority, 52.1 of best-of-N (optimal 61.9)."
    ),
    differs=(
        "The paper does not say which distributions it draws from; ours are those of a real verifier over all "
        "responses, so this pseudo-PRM discriminates within questions as well as the verifier does over all."
    ),
    measure=measure,
    find=find,
    show=lambda rows: by_llm(rows, NOTE),
)
