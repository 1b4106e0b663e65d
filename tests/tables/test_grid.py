"""The bundled grid: its form, its figures, and that it is what its card says."""

import json
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from recipes.grid.card import CARD, PAIRS, auroc_table, base_table, compare, comparison_table, finding, log_table
from recipes.grid.config import LLMS, VERIFIERS
from recipes.grid.figures import figures, grid_hash, pair_figures, rounded
from steelyard.cli.grid_figures import FIGURES
from steelyard.tables.sources.bundled_grid import (
    GRID,
    NOT_SCORES,
    RESPONSES,
    grid_texts,
)
from tests.running import steelyard

SELF = ["self_logprob", "self_ptrue"]


@pytest.fixture(scope="module")
def grid() -> pl.DataFrame:
    return pl.read_parquet(GRID)


def test_its_form(grid: pl.DataFrame) -> None:
    assert grid.columns == [*NOT_SCORES, *VERIFIERS, *SELF]
    assert grid.null_count().select(pl.exclude("answer")).sum_horizontal().item() == 0
    assert grid["llm"].unique(maintain_order=True).to_list() == list(LLMS)
    counts = grid.group_by("llm", "question").agg(pl.len(), pl.col("sample").n_unique().alias("samples"))
    assert counts["len"].unique().to_list() == counts["samples"].unique().to_list() == [64]
    assert grid.group_by("llm").agg(pl.col("question").n_unique())["question"].unique().to_list() == [1000]
    assert grid["domain"].n_unique() >= 11
    assert grid.group_by("question").agg(pl.col("prompt", "gold", "domain").n_unique())[:, 1:].max().row(0) == (1, 1, 1)


def test_every_step_is_scored_by_every_verifier(grid: pl.DataFrame) -> None:
    lengths = grid.select(pl.col(list(VERIFIERS)).list.len())
    assert all((lengths[name] == lengths["prm_hard"]).all() for name in VERIFIERS)
    lines = pl.read_parquet(RESPONSES)["response"].str.strip_chars_end("\n").str.count_matches("\n") + 1
    assert (lengths["prm_hard"] == lines).all()
    for name in (*VERIFIERS, *SELF):
        values = grid[name].explode() if name in VERIFIERS else grid[name]
        assert values.is_between(0, 1).all(), name


def test_the_files_are_small_enough() -> None:
    assert GRID.stat().st_size + RESPONSES.stat().st_size < 20e6


@pytest.mark.long
def test_answers_read_again_from_the_texts_are_the_stored_ones(grid: pl.DataFrame) -> None:
    some = grid.hstack(pl.read_parquet(RESPONSES).select("response")).unique(["response", "gold"]).sample(8000, seed=0)
    again = [sy.extract_answer(text) for text in some["response"]]
    assert again == some["answer"].to_list()
    correct = [a is not None and sy.same_answer(a, gold) for a, gold in zip(again, some["gold"], strict=True)]
    assert correct == some["correct"].to_list()


def test_texts_stand_in_the_order_of_the_grid(grid: pl.DataFrame) -> None:
    texts = pl.read_parquet(RESPONSES)
    assert texts.select("llm", "question", "sample").equals(grid.select("llm", "question", "sample"))
    assert grid_texts("smol-terse").height == 64_000


def test_a_pair_is_read_with_its_reducer() -> None:
    pool = sy.paper.load_grid("smol-misled", "prm_soft:min")
    assert (pool.n_questions, pool.n, pool.origin.score) == (1000, 64, "prm_soft:min")
    assert pool.origin.llm == "smol-misled"


def test_grid_names_are_sources_of_every_verb(tmp_path: Path) -> None:
    words = ("-n", 4, "--method", "majority", "--resamples", 2, "--json")
    shown = json.loads(steelyard("evaluate", "grid:tiny-scratch/orm_last", *words).out)
    assert (shown["calibration_questions"], shown["test_questions"], shown["score"]) == (300, 700, "orm_last:last")
    steelyard("fit", "grid:smol-terse", "--score", "prm_other:mean", "--method", "logit", "-o", tmp_path / "plan.json")
    steelyard("vote", "grid:smol-terse", "--plan", tmp_path / "plan.json", "-o", tmp_path / "verdicts.parquet")
    assert pl.read_parquet(tmp_path / "verdicts.parquet").height == 1000


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    assert "did you mean 'smol-much'" in steelyard("evaluate", "grid:smol-mach/probe").err
    assert "did you mean 'probe'" in steelyard("evaluate", "grid:smol-much/prob").err
    assert "several columns could be the score" in steelyard("evaluate", "grid:smol-much").err
    with pytest.raises(sy.TableError, match="no language model 'x'"):
        sy.paper.load_grid("x", "probe")


@pytest.fixture(scope="module")
def found() -> dict[str, object]:
    return figures()


def test_the_card_is_made_of_the_stored_pairs() -> None:
    text, pairs = CARD.read_text(), pl.read_csv(PAIRS)
    own = pl.col("verifier").str.starts_with("self")
    for part in (finding(pairs), *(comparison_table(pairs.filter(which)) for which in (own, ~own))):
        assert part in text, "run 'python -m recipes.grid.card'"


@pytest.mark.long
def test_the_card_has_the_figures_of_the_file(found: dict[str, object]) -> None:
    text = CARD.read_text()
    for table in (base_table(found), auroc_table(found, "auroc"), auroc_table(found, "auroc_within"), log_table()):
        assert table in text


@pytest.mark.parametrize(
    "pair", [("smol-much", "probe"), ("smol-misled", "orm_last"), ("tiny-scratch", "self_logprob")]
)
def test_the_card_compares_the_methods_as_the_library_does(pair: tuple[str, str]) -> None:
    stored = pl.read_csv(PAIRS).row(
        by_predicate=(pl.col("llm") == pair[0]) & (pl.col("verifier") == pair[1]), named=True
    )
    again = compare(*pair)
    assert [again.pop("llm"), again.pop("verifier")] == [stored.pop("llm"), stored.pop("verifier")]
    assert again == pytest.approx(stored, abs=2e-6)


def test_the_command_prints_the_stored_figures() -> None:
    stored = json.loads(FIGURES.read_text())["figures"]
    assert json.loads(steelyard("grid", "--json").out) == stored
    shown = steelyard("grid").out
    assert "smol-terse" in shown
    assert f"{stored['questions']} questions, {stored['samples']} samples each" in shown


def test_the_stored_figures_are_of_this_grid() -> None:
    stored = json.loads(FIGURES.read_text())
    assert stored["grid_sha256"] == grid_hash(), "run 'python -m recipes.grid.figures'"
    pair = stored["figures"]["verifiers"]["prm_hard"]["tiny-scratch"]
    assert rounded(pair_figures("tiny-scratch", "prm_hard")) == pytest.approx(pair, abs=1e-6)


@pytest.mark.long
def test_the_stored_figures_are_what_the_library_finds(found: dict[str, object]) -> None:
    stored = json.loads(FIGURES.read_text())["figures"]
    assert _flat(stored) == pytest.approx(_flat(found), abs=1e-6)


def _flat(found: object, name: str = "") -> dict[str, float]:
    if isinstance(found, dict):
        return {key: value for part in found for key, value in _flat(found[part], f"{name}/{part}").items()}
    assert isinstance(found, float | int)
    return {name: float(found)}
