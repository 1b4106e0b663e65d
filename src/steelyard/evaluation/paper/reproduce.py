"""The whole reproduction in one call: measured, drawn, written. `steelyard reproduce`, `sy.paper.reproduce`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from steelyard.evaluation.paper import run_experiments
from steelyard.evaluation.paper.experiment import chosen, experiment
from steelyard.evaluation.paper.grid_sources import GridSource
from steelyard.evaluation.paper.result_cache import Cache
from steelyard.evaluation.paper.results_folder import check_results, write_all
from steelyard.evaluation.paper.run_experiments import Reproduction
from steelyard.evaluation.paper.settings import Settings, ignored
from steelyard.evaluation.reports.chart_packages import check_charts
from steelyard.foundation.caching import cache_folder
from steelyard.foundation.files import make_folder


def reproduce(
    names: str | Sequence[str] = "all",
    *,
    grid: str | Path | None = None,
    quick: bool = False,
    output: str | Path = "reproduction",
    cached: bool = True,
    seed: int = 0,
    overwrite: bool = False,
    progress: Callable[[float], None] = ignored,
    drawing: Callable[[float], None] = ignored,
) -> Reproduction:
    """Make the paper's tables and figures on a grid of scored tables, and the page about them, in `output`.

    `names` are experiments, `grid` is a folder of scored tables (None: the bundled grid), `quick` takes a part of it.
    A folder with other files of the same names is refused, unless it holds the page of an earlier call, or with
    `overwrite`. `progress` is called with the share that is measured, then `drawing` with the share that is drawn.

    >>> import steelyard as sy
    >>> made = sy.paper.reproduce("grid", quick=True, output="made", cached=False)
    >>> [result.name for result in made.results], made.problems
    (['grid'], [])
    """
    wanted = chosen([names] if isinstance(names, str) else list(names))
    if any(experiment(name).draw for name in wanted):
        check_charts()
    folder = Path(output)
    source = GridSource.at(None if grid is None else Path(grid), quick=quick)
    cache = Cache(cache_folder() if cached else None)
    make_folder(folder)
    check_results(folder, wanted, inputs=[] if grid is None else [grid], overwrite=overwrite)
    made = run_experiments.reproduce(
        wanted, source, Settings.quickly(seed) if quick else Settings(seed), cache, progress
    )
    write_all(made, folder, cache, drawing)
    return made
