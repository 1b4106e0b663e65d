"""What the tables by domain share: a row per domain, a column per method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from steelyard.evaluation.paper.by_llm import best
from steelyard.evaluation.paper.experiment import Finding
from steelyard.evaluation.paper.figures_in_words import count, listed
from steelyard.evaluation.paper.measuring import (
    HONEST,
    Split,
    quiet,
    rights,
    summary,
)
from steelyard.evaluation.paper.pair_grid import Grid, Pair
from steelyard.evaluation.paper.settings import Settings
from steelyard.evaluation.paper.shown_table import Shown
from steelyard.evaluation.percentages import percent, points
from steelyard.foundation.errors import TableError
from steelyard.voting.pools.arrays import Bools

N = 16
METHODS = ("optimal", "optimal-shuffled", "optimal-crossfit", *HONEST)
FEWEST = 30  # questions of a domain: a third to calibrate on


def measured(grid: Grid, settings: Settings, sets: Callable[[Pair, Bools], list[Split]]) -> pl.DataFrame:
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
        about = {"llm": pair.llm, "verifier": pair.verifier, "domain": domain, "n": n}
        return [about | row for row in summary(METHODS, values)]

    return pl.DataFrame(grid.collect(settings, tasks, measure))


def _large(pair: Pair) -> list[str]:
    names, sizes = np.unique(pair.domains if pair.domains is not None else [], return_counts=True)
    return [str(name) for name, size in zip(names, sizes, strict=True) if size >= FEWEST]


def shown(rows: pl.DataFrame, note: str) -> Shown:
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


def found(rows: pl.DataFrame, what: str) -> Finding:
    """Whether the calibrated methods beat the baselines on the average over domains."""
    by_domain = rows.group_by("domain", "method", maintain_order=True).agg(pl.col("accuracy").mean())
    mean = dict(by_domain.group_by("method").agg(pl.col("accuracy").mean()).iter_rows())
    baseline = max(("majority", "vanilla", "best-of-n"), key=lambda name: mean[name])
    above = [m for m in ("kde", "linear", "logit") if mean[m] > mean[baseline]]
    logit = rows.filter(pl.col("method") == "logit")
    clear = int((logit["over_vanilla"] > 2 * logit["over_vanilla_se"]).sum())
    worse = int((logit["over_vanilla"] < -2 * logit["over_vanilla_se"]).sum())
    holds = mean["logit"] > mean[baseline] and clear > worse
    gain = mean["logit"] - mean["vanilla"]
    verdict = f"{listed(above)} above it on average" if above else "no calibrated method is above it on average"
    ours = (
        f"Averaged over {count(rows['domain'].n_unique(), 'domain')} and {count(rows['llm'].n_unique(), 'model')}: "
        f"majority {percent(mean['majority'])}, vanilla {percent(mean['vanilla'])}, best-of-n "
        f"{percent(mean['best-of-n'])}, kde {percent(mean['kde'])}, linear {percent(mean['linear'])}, logit "
        f"{percent(mean['logit'])} %. The best baseline is {baseline}: {verdict}. Of {count(logit.height, 'cell')} "
        f"logit is more than two standard errors above vanilla in {clear}, below in {worse}. The printed optimum has "
        f"{percent(mean['optimal'])} %, {percent(mean['optimal-shuffled'])} % on noise, "
        f"{percent(mean['optimal-crossfit'])} % without the leak."
    )
    return Finding(f"{what}: logit {points(gain)} points from vanilla on average over domains", ours, holds)
