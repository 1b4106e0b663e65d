"""What an experiment is: a file whose name is what the user types (paper/experiments/table_self.py: table-self).

Adding one is adding a file with an `EXPERIMENT`; the command line, the page and the tests find it by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.evaluation.paper.pair_grid import Grid, Settings
from steelyard.evaluation.paper.paper_tables import Shown
from steelyard.foundation.errors import SettingError, did_you_mean
from steelyard.foundation.registry import Registry

if TYPE_CHECKING:
    import polars as pl

FOLDER = Path(__file__).parent / "experiments"
ALL = "all"
ORDER = (
    "grid", "table1", "fig-scaling", "table-compute", "fig-weights", "table-domains", "fig-offset",
    "fig-calibration-size", "fig-question-weights", "fig-reliability", "table-transfer", "table-n112", "table-ablation",
    "table-self", "table-variance", "table-pseudo",
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """What our grid shows: a title that states it, a sentence with figures, whether the paper's finding holds."""

    title: str
    ours: str
    holds: bool | None = None  # None: the paper claims nothing here, or ours cannot say


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper."""

    description: str  # in a few words, for the list
    where: str  # in the paper
    paper: str  # what it reports, with its figures
    differs: str  # why ours may differ
    measure: Callable[[Grid, Settings], pl.DataFrame]
    find: Callable[[pl.DataFrame], Finding]
    show: Callable[[pl.DataFrame], Shown] | None = None  # a table
    draw: Callable[[pl.DataFrame], Any] | None = None  # or a chart, without its title


@cache
def registry() -> Registry[Experiment]:
    """All experiments by name."""
    return Registry("experiment", f"{__package__}.experiments", FOLDER, lambda module: module.EXPERIMENT)


@cache
def experiment_names() -> tuple[str, ...]:
    """The names of all experiments, in the order of the paper; those it does not have come last."""
    return tuple(sorted(registry().names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER)))


def experiment(name: str) -> Experiment:
    """The experiment of a name."""
    return registry().get(name)


def chosen(words: list[str]) -> list[str]:
    """The experiments that the words of a command mean.

    >>> chosen(["fig-offset", "table1", "table1"])
    ['table1', 'fig-offset']
    """
    for word in words:
        if word not in (ALL, *experiment_names()):
            raise SettingError(f"unknown experiment {word!r}: {did_you_mean(word, (ALL, *experiment_names()))}")
    return [name for name in experiment_names() if ALL in words or name in words]
