"""A folder of results: every table as Markdown, CSV and LaTeX, every figure as PNG, SVG and HTML, and one page."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from steelyard.evaluation.paper.paper_page import GENERATOR, page
from steelyard.evaluation.paper.result_cache import Cache, code_hash
from steelyard.evaluation.paper.run_experiments import Reproduction, Result
from steelyard.evaluation.paper.settings import ignored
from steelyard.evaluation.reports import style
from steelyard.foundation.files import make_folder, write_atomically
from steelyard.foundation.outputs import Kind, check_output

KINDS = ("png", "svg", "html")
PADDING = {"left": 5, "top": 5, "right": 30, "bottom": 5}  # room for a reader's wider font

INDEX = "index.html"


def check_results(folder: Path, names: Sequence[str], *, inputs: Sequence[Any], overwrite: bool) -> None:
    """Refuse a folder with files of our names in it, unless the page beside them is ours, or with `overwrite`."""

    def ours(_: Path) -> bool:
        index = folder / INDEX
        return index.is_file() and GENERATOR.encode() in index.read_bytes()[:2000]

    for path in [folder / INDEX, *(path for name in names for path in sorted(folder.glob(f"{name}.*")))]:
        kind = Kind("a result of 'steelyard reproduce'", (path.suffix.lower(),), ours)
        check_output(path, kind, inputs=inputs, overwrite=overwrite)


def write_all(
    made: Reproduction, folder: Path, cache: Cache, progress: Callable[[float], None] = ignored
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
    figure = style.styled(draw(result.rows), title=result.finding.title, subtitle=subtitle)
    return figure.properties(padding=PADDING)


def drawn(result: Result, cache: Cache) -> dict[str, bytes]:
    """The figure as PNG, SVG and a page that works without a network."""
    look = Path(style.__file__).read_text() + Path(__file__).read_text()
    source = "\0".join((code_hash(result.name), look, result.rows.write_csv()))
    made: dict[str, bytes] = {}

    def draw(kind: str) -> bytes:
        if not made:
            with tempfile.TemporaryDirectory() as folder:
                style.save(chart(result), Path(folder) / result.name)
                made.update({kind: (Path(folder) / f"{result.name}.{kind}").read_bytes() for kind in KINDS})
        return made[kind]

    return {kind: cache.file(source, kind, partial(draw, kind)) for kind in KINDS}
