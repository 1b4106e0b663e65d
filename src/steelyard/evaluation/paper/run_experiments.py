"""Run experiments on a grid: results from the cache where they are, measured where they are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl
from polars import selectors

from steelyard.evaluation.paper.experiment import Experiment, Finding, experiment
from steelyard.evaluation.paper.grid_sources import GridSource
from steelyard.evaluation.paper.pair_grid import Grid
from steelyard.evaluation.paper.result_cache import Cache
from steelyard.evaluation.paper.settings import Settings, ignored
from steelyard.foundation.errors import SteelyardError

PROBLEMS = "problems"
MISSING = "missing"
DECIMALS = 9  # of a figure; what differs beyond them is the machine's arithmetic, and no decision may rest on it
COST = {"table-compute": 12, "fig-scaling": 12, "table1": 4, "table-n112": 4, "table-ablation": 4, "fig-offset": 1}


@dataclass(frozen=True)
class Result:
    """One experiment's tidy table, or the sentence that says why there is none."""

    name: str
    rows: pl.DataFrame
    missing: str | None = None

    @property
    def experiment(self) -> Experiment:
        return experiment(self.name)

    @property
    def mark(self) -> str:
        """Whether the paper's finding holds, in a word or two."""
        held = {True: "holds", False: "does not hold", None: "-"}
        return "not made" if self.missing is not None else held[self.finding.holds]

    @cached_property
    def finding(self) -> Finding:
        """What the rows show."""
        if self.missing is not None:
            return Finding("Not made", self.missing, None)
        return self.experiment.find(self.rows)


@dataclass(frozen=True)
class Reproduction:
    """All results of a run, and what is wrong with the grid."""

    grid: str
    settings: Settings
    results: list[Result]
    problems: list[str]


def reproduce(
    names: list[str],
    source: GridSource,
    settings: Settings,
    cache: Cache,
    progress: Callable[[float], None] = ignored,
) -> Reproduction:
    """Make the tables of these experiments; `progress` hears the share of the work done."""
    key = source.key
    kept = {name: cache.table(name, key, settings) for name in names}
    known = cache.table(PROBLEMS, key, settings)
    wanted = [name for name, rows in kept.items() if rows is None or known is None]
    total = 3 + sum(COST.get(name, 2) for name in wanted)
    if wanted:
        grid = source.load(lambda share: progress(3 * share / total))
        done = 3.0
        for name in wanted:
            cost = COST.get(name, 2)
            told = _within(progress, done / total, (done + cost) / total)
            rows = _measured(name, grid, replace(settings, told=told))
            cache.keep(name, key, settings, rows)
            kept[name] = rows
            done += cost
            known = _said(known, grid)
            cache.keep(PROBLEMS, key, settings, known)
    tables = {name: rows for name, rows in kept.items() if rows is not None}
    problems = [] if known is None else known["problem"].to_list()
    return Reproduction(source.name, settings, [_result(name, rows) for name, rows in tables.items()], problems)


def _said(known: pl.DataFrame | None, grid: Grid) -> pl.DataFrame:
    """What was known to be wrong, and what is known now."""
    before = [] if known is None else known["problem"].to_list()
    return pl.DataFrame({"problem": list(dict.fromkeys((*before, *grid.problems)))}, schema={"problem": pl.String})


def _measured(name: str, grid: Grid, settings: Settings) -> pl.DataFrame:
    """The tidy table, or one that holds the sentence why there is none."""
    try:
        return portable(experiment(name).measure(grid, settings))
    except SteelyardError as error:
        return pl.DataFrame({MISSING: [str(error)]})


def portable(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows as any machine would have them: equal figures are equal, whatever the last bits say.

    >>> portable(pl.DataFrame({"gain": [0.1 + 0.2, 0.3]}))["gain"].n_unique()
    1
    """
    return rows.with_columns(selectors.float().round(DECIMALS))


def _result(name: str, rows: pl.DataFrame) -> Result:
    return Result(name, rows, rows[MISSING][0] if rows.columns == [MISSING] else None)


def _within(progress: Callable[[float], None], begin: float, end: float) -> Callable[[float], None]:
    return lambda share: progress(begin + share * (end - begin))
