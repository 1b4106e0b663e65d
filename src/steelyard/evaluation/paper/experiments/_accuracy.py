"""What the large tables of accuracies share: the measurement and what to say of it."""

from __future__ import annotations

import polars as pl

from steelyard.evaluation.paper.by_llm import averages, best
from steelyard.evaluation.paper.experiment import Finding
from steelyard.evaluation.paper.figures_in_words import count, listed
from steelyard.evaluation.paper.measuring import ALL, CALIBRATED, accuracies
from steelyard.evaluation.paper.pair_grid import Grid, Pair
from steelyard.evaluation.paper.settings import Settings
from steelyard.evaluation.percentages import percent, points


def measured(grid: Grid, pairs: list[Pair], settings: Settings, n: int, methods: tuple[str, ...] = ALL) -> pl.DataFrame:
    """Accuracy of all methods on these pairs at n samples."""
    return pl.DataFrame(grid.collect(settings, pairs, lambda pair: accuracies(pair, methods, settings, n)))


def compared(rows: pl.DataFrame) -> Finding:
    """Whether the calibrated votes beat the baselines, pair by pair and on average."""
    mean = averages(rows)
    pairs = rows.select("llm", "verifier").n_unique()
    logit = rows.filter(pl.col("method") == "logit")
    above = int((logit["over_vanilla"] > 2 * logit["over_vanilla_se"]).sum())
    below = int((logit["over_vanilla"] < -2 * logit["over_vanilla_se"]).sum())
    wins = [
        best(dict(part.select("method", "accuracy").iter_rows()))
        for _, part in rows.group_by("llm", "verifier", maintain_order=True)
    ]
    calibrated = sum(any(name in CALIBRATED for name in names) for names in wins)
    first = best({**mean})
    gain = mean["logit"] - mean["vanilla"]
    baseline = max(mean[name] for name in ("best-of-n", "majority", "vanilla"))
    # the average over pairs holds when it gains and more pairs say so than contradict
    holds = mean["logit"] > baseline and above > below
    n = rows["n"][0]
    title = (
        f"Calibrated logit voting gains {points(gain)} points over vanilla at N = {n}"
        if holds
        else f"At N = {n} calibration does not beat the best baseline on this grid ({points(gain)} points over vanilla)"
    )
    ours = (
        f"On average over {count(pairs, 'pair')}: logit {percent(mean['logit'])}, linear {percent(mean['linear'])}, "
        f"kde {percent(mean['kde'])}, vanilla {percent(mean['vanilla'])}, majority {percent(mean['majority'])}, "
        f"best-of-n {percent(mean['best-of-n'])} %. Best on average: {listed(first)}. Logit is more than two standard "
        f"errors above vanilla in {count(above, 'pair')}, below it in {below}; a calibrated method is the best, or "
        f"shares the first place, in {calibrated}. {leak(mean)}"
    )
    return Finding(title, ours, holds)


def leak(mean: dict[str, float]) -> str:
    """What the oracles owe to the scores, and what to the labels alone."""
    return (
        f"The printed optimum has {percent(mean['optimal'])} %, and {percent(mean['optimal-shuffled'])} % on scores "
        f"that are pure noise: it leaks. Without the leak it has {percent(mean['optimal-crossfit'])} %, "
        f"{percent(mean['optimal-crossfit-shuffled'])} % on noise (that much is knowing each question's true q_M)."
    )
