"""What is wrong with a grid, or with what was typed, is said; the rest is made."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from steelyard.evaluation.paper.experiment import experiment_names
from steelyard.evaluation.paper.grid_sources import GridSource
from steelyard.evaluation.paper.reproduce import write_all
from steelyard.evaluation.paper.run_experiments import Cache, run_experiments
from tests.evaluation.paper.grids import SETTINGS, responses, wrote
from tests.running import steelyard


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid with everything that can be wrong with one."""
    alpha, beta = responses(1), responses(2)
    some = alpha.filter(pl.col("question") < "q080").drop("prm_a", "prm_b", "self_p", "domain")
    return wrote(
        tmp_path_factory.mktemp("bad") / "grid",
        alpha=alpha,
        beta=beta.drop("prm_b", "domain")
        .filter(pl.col("sample") < pl.when(pl.col("question") > "q050").then(6).otherwise(5)),
        gamma=beta.drop("correct"),
        delta=alpha.select("question", "answer", "correct"),
        tiny=alpha.filter(pl.col("question") < "q010"),
        **{"alpha--other": some.with_columns(score=alpha["prm_a"][: some.height])},
    )  # fmt: skip


def test_everything_wrong_with_a_grid_is_said_and_the_rest_is_made(bad: Path, tmp_path: Path) -> None:
    (bad / "broken.parquet").write_bytes(b"PAR1 no")
    made = run_experiments(["table1", "table-domains"], GridSource.at(bad), SETTINGS, Cache(None))
    said = " ".join(made.problems)
    for text in (
        "Unequal sample counts within beta with prm_a, beta with self_p",
        "Sample counts are unequal between pairs",
        "No labels (a column 'correct' or 'gold'): left out are gamma with prm_a, gamma with prm_b, gamma with self_p.",
        "delta.parquet is left out: it has no column of scores",
        "Fewer than 60 questions: left out are tiny with prm_a",
        "broken.parquet is left out",
        "The grid has no pair beta with other, beta with prm_b",
        "The verifiers of alpha judged different questions: other",
        "No column 'domain' for alpha with other, beta with prm_a",
    ):
        assert text in said, f"{text}\n{said}"
    table1 = next(result for result in made.results if result.name == "table1")
    pairs = set(table1.rows.select("llm", "verifier").iter_rows())
    assert pairs == {("alpha", "prm_a"), ("alpha", "prm_b"), ("alpha", "other"), ("beta", "prm_a")}
    write_all(made, tmp_path / "out", Cache(None))
    page = (tmp_path / "out" / "index.html").read_text()
    assert "left out are gamma with prm_a" in page
    assert table1.rows["n"][0] == 6


def test_a_pair_that_cannot_be_calibrated_is_said_and_the_others_are_measured(tmp_path: Path) -> None:
    one_wrong = pl.col("question") == "q000"
    easy = responses(2).with_columns(answer=pl.lit("7"), correct=~one_wrong)
    grid = wrote(tmp_path / "grid", alpha=responses(1), easy=easy)
    names = ["table1", "fig-scaling", "table-transfer", "fig-offset"]
    cache = Cache(tmp_path / "cache")
    made = run_experiments(names, GridSource.at(grid), SETTINGS, cache)
    assert "easy with prm_a cannot be measured and is left out: every scored response" in " ".join(made.problems)
    assert [result.missing for result in made.results] == [None] * 4
    assert set(next(r for r in made.results if r.name == "table1").rows["llm"]) == {"alpha"}
    assert run_experiments(names, GridSource.at(grid), SETTINGS, cache).problems == made.problems


def test_without_domains_the_tables_by_domain_say_so_and_the_others_are_made(tmp_path: Path) -> None:
    grid = wrote(tmp_path / "grid", alpha=responses(1).drop("domain", "self_p"))
    done = steelyard(
        "reproduce", "table-domains", "table-self", "grid", "--grid", grid, "-o", tmp_path / "out", "--no-cache"
    )
    assert done.code == 0, done.err
    assert re.search(r"table-domains +not made", done.out)
    page = (tmp_path / "out" / "index.html").read_text()
    assert "the grid has no column" in page
    assert "there are no self-assessments" in page
    assert (tmp_path / "out" / "grid.md").exists()
    assert not (tmp_path / "out" / "table-domains.md").exists()


def test_without_a_name_it_lists_what_there_is() -> None:
    done = steelyard("reproduce")
    assert done.code == 0
    assert all(name in done.out for name in experiment_names())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tabel1",), "did you mean 'table1'"),
        (("table1", "--grid", "nowhere"), "nowhere is not a folder"),
        (("table1", "--seed", "-1"), "--seed"),
        (("table1", "-o", "/proc/none"), "cannot make the folder"),
    ],
)
def test_a_mistake_is_one_line(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = steelyard("reproduce", *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_a_folder_without_tables_or_pairs_is_a_mistake(tmp_path: Path) -> None:
    assert "has no tables" in steelyard("reproduce", "all", "--grid", tmp_path, "-o", tmp_path / "out").err
    wrote(tmp_path, alpha=responses(1).drop("correct"))
    done = steelyard("reproduce", "table1", "--grid", tmp_path, "-o", tmp_path / "out", "--no-cache")
    assert done.code == 2
    assert "there is no pair to measure" in done.err
