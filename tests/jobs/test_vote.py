"""Voting on a file: every response is counted once, whatever the order of the rows."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.confidence.drift import some_question_means
from steelyard.jobs.vote import decide_file
from tests.building import labelled


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for room in ("row_order", "question_batches"):
        monkeypatch.setattr(f"steelyard.tables.{room}.BATCH", 20)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("order", [["question", "sample"], ["sample", "question"]])
def test_every_response_is_counted_once_in_the_look_for_drift(
    order: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = sy.LogitVote().fit(labelled(sy.simulate(200, 8, seed=1)))
    table = sy.simulate(60, 8, seed=2)
    table.sort(order).write_parquet(tmp_path / "t.parquet")
    seen: list[int] = []

    def counted(pool: sy.Pool) -> Any:
        seen.append(pool.n_responses)
        return some_question_means(pool)

    monkeypatch.setattr("steelyard.jobs.vote.some_question_means", counted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verdicts = decide_file(plan, tmp_path / "t.parquet")
    assert sum(seen) == table.height
    assert verdicts["question"].n_unique() == verdicts.height == 60
    expected = plan.predict(sy.read(table)).to_polars()
    assert verdicts.sort("question").equals(expected.sort("question"))


@pytest.mark.usefixtures("small_batches")
def test_a_score_that_the_file_lacks_and_the_method_does_not_need_is_left_out(tmp_path: Path) -> None:
    plan = sy.MajorityVote().fit(labelled(sy.simulate(50, 8, seed=1)))
    table = sy.simulate(30, 8, seed=2).drop("score")
    table.sort("sample", "question").write_parquet(tmp_path / "t.parquet")
    verdicts = decide_file(plan, tmp_path / "t.parquet")
    assert verdicts.height == 30
    assert verdicts["responses"].to_list() == [8] * 30


@pytest.mark.usefixtures("small_batches")
def test_what_a_method_refuses_is_said_with_the_name_of_the_file(tmp_path: Path) -> None:
    class Refusing(sy.MajorityVote):
        def predict(self, pool: sy.Pool) -> sy.Verdicts:
            raise sy.ScoreError("these scores will not do")

    pl.DataFrame(sy.simulate(3, 4)).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(sy.ScoreError, match=rf"{tmp_path}/t.parquet: these scores will not do"):
        decide_file(Refusing(), tmp_path / "t.parquet")
