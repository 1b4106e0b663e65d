"""Run experiments on a grid; results are cached by the grid, the settings and the source files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import polars as pl
from polars import selectors

import steelyard
from steelyard.evaluation.paper.experiment import Experiment, Finding, experiment
from steelyard.evaluation.paper.grid_sources import GridSource
from steelyard.evaluation.paper.pair_grid import Grid, Settings
from steelyard.evaluation.random_subsets import no_progress, within
from steelyard.foundation.caching import cached, store
from steelyard.foundation.errors import SteelyardError
from steelyard.tables.sources.file_checks import DAMAGE

PROBLEMS = "problems"
MISSING = "missing"
DECIMALS = 9  # of a figure; what differs beyond them is the machine's arithmetic, and no decision may rest on it
COST = {"table-compute": 12, "fig-scaling": 12, "table1": 4, "table-n112": 4, "table-ablation": 4, "fig-offset": 1}
SOURCE = Path(steelyard.__file__).parent
SHARED = (
    "foundation/*.py", "voting/**/*.py", "answers/**/*.py", "tables/**/*.py", "evaluation/*.py",
    "evaluation/paper/pair_grid.py", "evaluation/paper/grid_sources.py", "evaluation/paper/measuring.py",
    "evaluation/paper/experiments/_*.py",
)  # fmt: skip


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


def run_experiments(
    names: list[str],
    source: GridSource,
    settings: Settings,
    cache: Cache,
    progress: Callable[[float], None] = no_progress,
) -> Reproduction:
    """Make the tables of these experiments; `progress` hears the share of the work done."""
    key = source.key
    results = {name: cache.table(name, key, settings) for name in names}
    cached = cache.table(PROBLEMS, key, settings)
    problems = [] if cached is None else cached["problem"].to_list()
    missing = [name for name, rows in results.items() if rows is None or cached is None]
    total = 3 + sum(COST.get(name, 2) for name in missing)
    if missing:
        grid = source.load(lambda share: progress(3 * share / total))
        done = 3.0
        for name in missing:
            cost = COST.get(name, 2)
            part = within(progress, done / total, (done + cost) / total)
            rows = _measured(name, grid, replace(settings, progress=part))
            cache.store(name, key, settings, rows)
            results[name] = rows
            done += cost
            problems = list(dict.fromkeys((*problems, *grid.problems)))
            cache.store(PROBLEMS, key, settings, pl.DataFrame({"problem": problems}, schema={"problem": pl.String}))
    tables = {name: rows for name, rows in results.items() if rows is not None}
    made = [
        Result(name, rows, rows[MISSING][0] if rows.columns == [MISSING] else None) for name, rows in tables.items()
    ]
    return Reproduction(source.name, settings, made, problems)


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


@cache
def code_hash(name: str) -> str:
    """A hash of the sources an experiment runs."""
    files = sorted(file for pattern in SHARED for file in SOURCE.glob(pattern))
    own = SOURCE / "evaluation" / "paper" / "experiments" / f"{name.replace('-', '_')}.py"
    digest = sha256(steelyard.__version__.encode())
    for file in (*files, *([own] if own.exists() else [])):
        digest.update(f"{file.relative_to(SOURCE)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Cache:
    """Tables and files by what they were made from; without a folder nothing is stored."""

    folder: Path | None

    def table(self, name: str, grid: str, settings: Settings) -> pl.DataFrame | None:
        """The result of an experiment, if it is there and whole."""
        if self.folder is None:
            return None
        try:
            return pl.read_parquet(self._path(name, grid, settings))
        except DAMAGE:
            return None

    def store(self, name: str, grid: str, settings: Settings, rows: pl.DataFrame) -> None:
        """Store the result of an experiment."""
        if self.folder is not None:
            buffer = BytesIO()
            rows.write_parquet(buffer)
            store(self._path(name, grid, settings), buffer.getvalue())

    def file(self, content: str, kind: str, make: Callable[[], bytes]) -> bytes:
        """Bytes that follow from `content`, such as a drawing from its description."""
        if self.folder is None:
            return make()
        return cached(self.folder, content, kind, make)

    def _path(self, name: str, grid: str, settings: Settings) -> Path:
        key = sha256(f"{name}\0{grid}\0{settings!r}\0{code_hash(name)}".encode()).hexdigest()[:32]
        return (self.folder or Path()) / f"{name}-{key}.parquet"
