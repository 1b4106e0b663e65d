"""Reproduce the paper: measure the experiments and write tables (Markdown, CSV, LaTeX), figures and one page."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from steelyard.evaluation.paper.experiment import chosen, experiment
from steelyard.evaluation.paper.grid_sources import GridSource
from steelyard.evaluation.paper.pair_grid import Settings
from steelyard.evaluation.paper.paper_page import GENERATOR, page
from steelyard.evaluation.paper.run_experiments import Cache, Reproduction, Result, code_hash, run_experiments
from steelyard.evaluation.random_subsets import no_progress
from steelyard.foundation.caching import cache_folder
from steelyard.foundation.charts import chart_style
from steelyard.foundation.charts.chart_style import check_charts
from steelyard.foundation.files import make_folder, write_atomically
from steelyard.foundation.outputs import Kind, check_output

KINDS = ("png", "svg", "html")
PADDING = {"left": 5, "top": 5, "right": 30, "bottom": 5}  # room for a reader's wider font
INDEX = "index.html"


def reproduce(
    names: str | Sequence[str] = "all",
    *,
    grid: str | Path | None = None,
    quick: bool = False,
    output: str | Path = "reproduction",
    cached: bool = True,
    seed: int = 0,
    overwrite: bool = False,
    progress: Callable[[float], None] = no_progress,
    drawing: Callable[[float], None] = no_progress,
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
    selected = chosen([names] if isinstance(names, str) else list(names))
    if any(experiment(name).draw for name in selected):
        check_charts()
    folder = Path(output)
    source = GridSource.at(None if grid is None else Path(grid), quick=quick)
    cache = Cache(cache_folder() if cached else None)
    make_folder(folder)
    check_results(folder, selected, inputs=[] if grid is None else [grid], overwrite=overwrite)
    made = run_experiments(selected, source, Settings.quickly(seed) if quick else Settings(seed), cache, progress)
    write_all(made, folder, cache, drawing)
    return made


def check_results(folder: Path, names: Sequence[str], *, inputs: Sequence[Any], overwrite: bool) -> None:
    """Refuse a folder with files of our names in it, unless the page beside them is ours, or with `overwrite`."""

    def ours(_: Path) -> bool:
        index = folder / INDEX
        return index.is_file() and GENERATOR.encode() in index.read_bytes()[:2000]

    for path in [folder / INDEX, *(path for name in names for path in sorted(folder.glob(f"{name}.*")))]:
        kind = Kind("a result of 'steelyard reproduce'", (path.suffix.lower(),), ours)
        check_output(path, kind, inputs=inputs, overwrite=overwrite)


def write_all(
    made: Reproduction, folder: Path, cache: Cache, progress: Callable[[float], None] = no_progress
) -> list[Path]:
    """Write all results and the page; return the paths."""
    make_folder(folder)
    files: dict[str, bytes] = {}
    drawings: dict[str, str] = {}
    for done, result in enumerate(made.results):
        progress(done / len(made.results))
        if result.missing is not None:
            continue
        files[f"{result.name}.csv"] = result.rows.write_csv().encode()
        if result.experiment.show:
            table = result.experiment.show(result.rows)
            files[f"{result.name}.md"] = f"# {result.finding.title}\n\n{table.markdown()}".encode()
            files[f"{result.name}.tex"] = table.latex().encode()
        if result.experiment.draw:
            files |= {f"{result.name}.{kind}": content for kind, content in drawn(result, cache).items()}
            drawings[result.name] = files[f"{result.name}.svg"].decode()
    files[INDEX] = page(made, drawings).encode()
    for name, content in files.items():
        write_atomically(folder / name, content)
    progress(1.0)
    return [folder / name for name in files]


def chart(result: Result) -> Any:
    """The figure of a result, with the title that states its finding."""
    draw = result.experiment.draw
    if draw is None:
        raise AssertionError(f"{result.name} is not a figure")
    subtitle = f"{result.experiment.where} of the paper, measured again"
    figure = chart_style.styled(draw(result.rows), title=result.finding.title, subtitle=subtitle)
    return figure.properties(padding=PADDING)


def drawn(result: Result, cache: Cache) -> dict[str, bytes]:
    """The figure as PNG, SVG and a page that works without a network."""
    look = Path(chart_style.__file__).read_text() + Path(__file__).read_text()
    source = "\0".join((code_hash(result.name), look, result.rows.write_csv()))
    made: dict[str, bytes] = {}

    def draw(kind: str) -> bytes:
        if not made:
            with tempfile.TemporaryDirectory() as folder:
                chart_style.save(chart(result), Path(folder) / result.name)
                made.update({kind: (Path(folder) / f"{result.name}.{kind}").read_bytes() for kind in KINDS})
        return made[kind]

    return {kind: cache.file(source, kind, partial(draw, kind)) for kind in KINDS}
