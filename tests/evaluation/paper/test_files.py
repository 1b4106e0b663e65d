"""The files that are written: well-formed tables, pages without a network, the same bytes."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from steelyard.evaluation.paper.experiment import experiment, experiment_names
from steelyard.evaluation.paper.paper_tables import Shown
from steelyard.evaluation.paper.reproduce import write_all
from steelyard.evaluation.paper.run_experiments import Cache, Reproduction
from tests.running import steelyard

TABLES = [name for name in experiment_names() if experiment(name).show]
FIGURES = [name for name in experiment_names() if experiment(name).draw]


@pytest.mark.experiments
@pytest.mark.parametrize("name", TABLES)
def test_markdown_and_latex_are_well_formed(name: str, rows: dict[str, pl.DataFrame]) -> None:
    show = experiment(name).show
    assert show
    table = show(rows[name])
    piped = [line for line in table.markdown().splitlines() if line.startswith("|")]
    assert len(piped) == len(table.rows) + 2
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in piped} == {len(table.head) + 1}
    latex = table.latex()
    lines = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(table.head) - 1}
    assert len(re.findall(r"(?<!\\)\{", latex)) == len(re.findall(r"(?<!\\)\}", latex))
    assert not re.search(r"(?<!\\)[_#]", "\n".join(lines))
    assert latex.rstrip().endswith(r"\end{tabular}")


def test_odd_names_do_not_break_a_table() -> None:
    table = Shown(["a|b", "x_y"], [["50 % & more", r"\x{~}^"]], bold=frozenset({(0, 1)}))
    assert table.latex().count(r"\%") == 1
    assert r"\textbf{\textbackslash{}x\{\textasciitilde{}\}\textasciicircum{}}" in table.latex()
    assert r"| a\|b | x_y |" in table.markdown()
    assert "50 % &amp; more" in table.html()


@pytest.mark.experiments
def test_the_folder_has_every_format_and_a_page_without_a_network(made: Reproduction, tmp_path: Path) -> None:
    write_all(made, tmp_path, Cache(None))
    for name in TABLES:
        assert all((tmp_path / f"{name}.{kind}").stat().st_size for kind in ("md", "csv", "tex")), name
    for name in FIGURES:
        assert all((tmp_path / f"{name}.{kind}").stat().st_size for kind in ("png", "svg", "html", "csv")), name
        assert not re.search(r"<(script|link)[^>]+(src|href)=", (tmp_path / f"{name}.html").read_text())
    page = (tmp_path / "index.html").read_text()
    targets = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert not [t for t in targets if not (t.startswith(("data:", "#")) or (tmp_path / t).exists())]
    assert "url(" not in page
    assert "<script" not in page
    for result in made.results:
        assert f'id="{result.name}"' in page
    assert pl.read_csv(tmp_path / "table1.csv").height == made.results[1].rows.height


@pytest.mark.experiments
def test_the_same_seed_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    words = ("reproduce", "table1", "fig-offset", "--grid", folder, "--quick", "--no-cache", "--seed", 5)
    for run in ("one", "two"):
        assert steelyard(*words, "-o", tmp_path / run).code == 0
    for file in sorted((tmp_path / "one").iterdir()):
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name


@pytest.mark.long
def test_the_quick_run_of_every_experiment_that_the_help_names_ends_well(tmp_path: Path) -> None:
    done = steelyard("reproduce", "all", "--quick", "--no-cache", "-o", tmp_path / "all")
    assert done.code == 0, done.err
    assert {file.stem for file in (tmp_path / "all").glob("*.csv")} >= set(experiment_names())
