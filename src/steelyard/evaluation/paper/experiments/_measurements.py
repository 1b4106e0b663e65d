"""Measurements that several experiments share: accuracies of all pairs, accuracies by domain, and scaling curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import polars as pl

from steelyard.evaluation.accuracy_curves import Curves, curves, default_sizes
from steelyard.evaluation.matching_compute import fine_sizes
from steelyard.evaluation.paper.experiment import Finding
from steelyard.evaluation.paper.measuring import (
    ALL,
    CALIBRATED,
    HONEST,
    Split,
    accuracies,
    quiet,
    rights,
    splits,
    summary,
)
from steelyard.evaluation.paper.pair_grid import Grid, Pair, Settings
from steelyard.evaluation.paper.paper_tables import Shown, averages, best, beyond_chance, count, listed, percents
from steelyard.evaluation.percentages import percent, points
from steelyard.foundation.errors import TableError
from steelyard.voting.pools.arrays import Bools

N = 16
METHODS = ("optimal", "optimal-shuffled", "optimal-crossfit", *HONEST)
FEWEST = 30  # questions of a domain: a third to calibrate on
QUICK = ("pass-at-n", "best-of-n", "majority", "vanilla", "linear", "logit")  # added up or exact
SLOW = ("optimal", "optimal-crossfit", "kde", "calibrated")  # vote again on every subset


def pair_accuracies(
    grid: Grid, pairs: list[Pair], settings: Settings, n: int, methods: tuple[str, ...] = ALL
) -> pl.DataFrame:
    """Accuracy of all methods on these pairs at n samples."""
    return pl.DataFrame(grid.collect(settings, pairs, lambda pair: accuracies(pair, methods, settings, n)))


def accuracy_finding(rows: pl.DataFrame) -> Finding:
    """Whether the calibrated votes beat the baselines, pair by pair and on average."""
    mean = averages(rows)
    pairs = rows.select("llm", "verifier").n_unique()
    above, below = beyond_chance(rows)
    wins = [
        best(dict(part.select("method", "accuracy").iter_rows()))
        for _, part in rows.group_by("llm", "verifier", maintain_order=True)
    ]
    calibrated = sum(any(name in CALIBRATED for name in names) for names in wins)
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
        f"On average over {count(pairs, 'pair')}: "
        f"{percents(mean, ('logit', 'linear', 'kde', 'vanilla', 'majority', 'best-of-n'))} %. "
        f"Best on average: {listed(best({**mean}))}. Logit is more than two standard errors above vanilla in "
        f"{count(above, 'pair')}, below it in {below}; a calibrated method is the best, or shares the first place, in "
        f"{calibrated}. {leak(mean)}"
    )
    return Finding(title, ours, holds)


def leak(mean: dict[str, float]) -> str:
    """What the oracles owe to the scores, and what to the labels alone."""
    return (
        f"The printed optimum has {percent(mean['optimal'])} %, and {percent(mean['optimal-shuffled'])} % on scores "
        f"that are pure noise: it leaks. Without the leak it has {percent(mean['optimal-crossfit'])} %, "
        f"{percent(mean['optimal-crossfit-shuffled'])} % on noise (that much is knowing each question's true q_M)."
    )


def domain_accuracies(grid: Grid, settings: Settings, sets: Callable[[Pair, Bools], list[Split]]) -> pl.DataFrame:
    """Accuracy for every language model, with its most discriminating verifier, and every domain."""
    pairs = [pair for pair in grid.leading if pair.domains is not None]
    if not pairs:
        raise TableError("the grid has no column 'domain': accuracy by domain cannot be measured")
    n = min(N, grid.n)
    tasks = [(pair, domain) for pair in pairs for domain in _large(pair)]
    if not tasks:
        raise TableError(f"no domain of the grid has {FEWEST} questions: accuracy by domain cannot be measured")

    def measure(task: tuple[Pair, str]) -> list[dict[str, Any]]:
        pair, domain = task
        small = Pair(pair.llm, pair.verifier, pair.pool.first(n), pair.domains)
        with quiet():
            values = rights(METHODS, sets(small, np.asarray(pair.domains == domain)), seed=settings.seed)
        common = {"llm": pair.llm, "verifier": pair.verifier, "domain": domain, "n": n}
        return [common | row for row in summary(METHODS, values)]

    return pl.DataFrame(grid.collect(settings, tasks, measure))


def _large(pair: Pair) -> list[str]:
    names, sizes = np.unique(pair.domains if pair.domains is not None else [], return_counts=True)
    return [str(name) for name, size in zip(names, sizes, strict=True) if size >= FEWEST]


def domain_table(rows: pl.DataFrame, note: str) -> Shown:
    """A row per domain, averaged over language models; the best honest method in bold."""
    mean = rows.group_by("domain", "method", maintain_order=True).agg(pl.col("accuracy").mean())
    value = {(domain, method): accuracy for domain, method, accuracy in mean.iter_rows()}
    domains = rows["domain"].unique(maintain_order=True).to_list()
    methods = rows["method"].unique(maintain_order=True).to_list()
    for method in methods:
        value["average", method] = float(np.mean([value[domain, method] for domain in domains]))
    lines, bold = [], set()
    for i, domain in enumerate((*domains, "average")):
        lines.append([domain, *(percent(value[domain, method]) for method in methods)])
        bold |= {(i, 1 + methods.index(name)) for name in best({m: value[domain, m] for m in methods})}
    return Shown(["domain", *methods], lines, note, 1, frozenset(bold), frozenset({len(domains)}))


def domain_finding(rows: pl.DataFrame, title: str) -> Finding:
    """Whether the calibrated methods beat the baselines on the average over domains."""
    by_domain = rows.group_by("domain", "method", maintain_order=True).agg(pl.col("accuracy").mean())
    mean = dict(by_domain.group_by("method").agg(pl.col("accuracy").mean()).iter_rows())
    baseline = max(("majority", "vanilla", "best-of-n"), key=lambda name: mean[name])
    above = [m for m in ("kde", "linear", "logit") if mean[m] > mean[baseline]]
    clear, worse = beyond_chance(rows)
    cells = rows.filter(pl.col("method") == "logit").height
    holds = mean["logit"] > mean[baseline] and clear > worse
    gain = mean["logit"] - mean["vanilla"]
    verdict = f"{listed(above)} above it on average" if above else "no calibrated method is above it on average"
    ours = (
        f"Averaged over {count(rows['domain'].n_unique(), 'domain')} and {count(rows['llm'].n_unique(), 'model')}: "
        f"{percents(mean, ('majority', 'vanilla', 'best-of-n', 'kde', 'linear', 'logit'))} %. "
        f"The best baseline is {baseline}: {verdict}. Of {count(cells, 'cell')} "
        f"logit is more than two standard errors above vanilla in {clear}, below in {worse}. The printed optimum has "
        f"{percent(mean['optimal'])} %, {percent(mean['optimal-shuffled'])} % on noise, "
        f"{percent(mean['optimal-crossfit'])} % without the leak."
    )
    return Finding(f"{title}: logit {points(gain)} points from vanilla on average over domains", ours, holds)


@dataclass(frozen=True)
class PairCurves:
    """The curves of a pair: `fine` for what is quick, `coarse` for what is slow, `noise` on shuffled scores."""

    pair: Pair
    fine: Curves
    coarse: Curves
    noise: Curves


def all_curves(grid: Grid, settings: Settings) -> list[PairCurves]:
    """Curves of every pair, on the first calibration set."""
    made = grid.shared(
        ("curves", settings), lambda: grid.collect(settings, grid.prm, lambda p: [_pair_curves(p, settings)])
    )
    return cast(list[PairCurves], made)


def _pair_curves(pair: Pair, settings: Settings) -> PairCurves:
    cal, test = splits(pair.pool, settings)[0]
    sizes = fine_sizes(test.n)
    with quiet():
        fine = curves(QUICK, cal, test, n=sizes, resamples=settings.resamples, seed=settings.seed)
        coarse = curves(SLOW, cal, test, n=default_sizes(test.n), resamples=settings.again, seed=settings.seed)
        shuffled = test.with_shuffled_scores(settings.seed)
        noise = curves(
            ["optimal"], cal, shuffled, n=default_sizes(test.n), resamples=settings.again, seed=settings.seed
        )
    return PairCurves(pair, fine, coarse, noise)
