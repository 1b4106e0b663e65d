"""A score that is higher for incorrect responses is reported, by its name and by the labels."""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard


def _inverted(name: str, questions: int = 60) -> pl.DataFrame:
    table = sy.simulate(questions, 8, seed=3)
    return table.select(pl.exclude("score"), (1 - pl.col("score")).alias(name))


@pytest.mark.parametrize("name", ["error_prob", "risk_score", "Uncertainty", "prob_wrong"])
def test_a_score_that_is_an_error_by_its_name_is_not_taken_without_being_asked_for(name: str, tmp_path: Path) -> None:
    _inverted(name).write_csv(tmp_path / "t.csv")
    refused = steelyard("fit", tmp_path / "t.csv")
    assert refused.code == 2
    assert f"by its name lower is better: read it with --score 1-{name}" in refused.err
    turned = steelyard("fit", tmp_path / "t.csv", "--score", f"1-{name}")
    assert turned.code == 0, turned.err
    assert "better" not in turned.err


def test_a_score_that_is_named_is_read_with_a_warning() -> None:
    with pytest.warns(sy.SteelyardWarning, match="lower is better for 'error_prob'"):
        sy.read(_inverted("error_prob"), score="error_prob")


def test_labels_show_that_a_score_is_upside_down() -> None:
    pool = sy.read_labelled(_inverted("prm"))
    with pytest.warns(sy.SteelyardWarning, match="'prm' is higher for incorrect responses .* score='1-prm'"):
        sy.VanillaVote().fit(pool)
    cal, test = pool.split(0.5, seed=0)
    with pytest.warns(sy.SteelyardWarning, match="'prm' is higher for incorrect"):
        sy.evaluate(["vanilla"], cal, test, resamples=0)


@pytest.mark.parametrize("table", [sy.simulate(60, 8, seed=3), _inverted("score", questions=15)])
def test_a_good_score_and_one_on_few_questions_are_not_reported(table: pl.DataFrame) -> None:
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        sy.VanillaVote().fit(sy.read_labelled(table))
    assert [str(each.message) for each in records if "higher for incorrect" in str(each.message)] == []
