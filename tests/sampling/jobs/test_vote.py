"""Voting on a file: every response is counted once, whatever the order of the rows."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.voting.confidence.drift import some_question_means
from tests.building import labelled
from tests.running import steelyard
from tests.sampling.jobs.on_demand import plan_for


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.tables.row_order.BATCH", 20)


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

    monkeypatch.setattr("steelyard.tables.vote.some_question_means", counted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verdicts = sy.vote(tmp_path / "t.parquet", plan)
    assert sum(seen) == table.height
    assert verdicts["question"].n_unique() == verdicts.height == 60
    expected = plan.predict(sy.read(table)).to_polars()
    assert verdicts.sort("question").equals(expected.sort("question"))


@pytest.mark.usefixtures("small_batches")
def test_a_score_that_the_file_lacks_and_the_method_does_not_need_is_left_out(tmp_path: Path) -> None:
    plan = sy.MajorityVote().fit(labelled(sy.simulate(50, 8, seed=1)))
    table = sy.simulate(30, 8, seed=2).drop("score")
    table.sort("sample", "question").write_parquet(tmp_path / "t.parquet")
    verdicts = sy.vote(tmp_path / "t.parquet", plan)
    assert verdicts.height == 30
    assert verdicts["responses"].to_list() == [8] * 30


@pytest.mark.usefixtures("small_batches")
def test_what_a_method_refuses_is_said_with_the_name_of_the_file(tmp_path: Path) -> None:
    class Refusing(sy.MajorityVote):
        def predict(self, pool: sy.Pool) -> sy.Verdicts:
            raise sy.errors.ScoreError("these scores will not do")

    pl.DataFrame(sy.simulate(3, 4)).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(sy.errors.ScoreError, match=rf"{tmp_path}/t.parquet: these scores will not do"):
        sy.vote(tmp_path / "t.parquet", Refusing())


def test_without_a_plan_and_a_method_the_majority_decides() -> None:
    table = sy.simulate(20, 8, seed=2)
    assert sy.vote(table).equals(sy.vote(table, method="majority"))
    assert not sy.vote(table).equals(sy.vote(table, method="vanilla"))


@pytest.mark.parametrize("method", ["majority", "bogus"])
def test_a_plan_and_a_method_together_are_refused(tmp_path: Path, method: str) -> None:
    plan = sy.LogitVote().fit(labelled(sy.simulate(60, 8, seed=1)))
    plan.save(tmp_path / "plan.json")
    sy.write(sy.simulate(20, 8, seed=2), tmp_path / "t.parquet")
    for given in (plan, tmp_path / "plan.json"):
        with pytest.raises(sy.SettingError, match="a plan and a method exclude each other"):
            sy.vote(tmp_path / "t.parquet", given, method=method)
    done = steelyard("vote", tmp_path / "t.parquet", "--plan", tmp_path / "plan.json", "--method", method)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "a plan and a method exclude each other" in done.err


def test_the_name_of_a_method_in_the_place_of_a_plan_is_refused_with_what_to_write(tmp_path: Path) -> None:
    table = sy.simulate(20, 8, seed=2)
    with pytest.raises(sy.PlanError, match=r'^no such plan: majority; to vote with that method, use method="majority"'):
        sy.vote(table, "majority")
    with pytest.raises(sy.SettingError, match="logit cannot vote without a plan: make one with 'steelyard fit'"):
        sy.vote(table, "logit")
    sy.write(table, tmp_path / "t.parquet")
    assert "(--method vanilla)" in steelyard("vote", tmp_path / "t.parquet", "--plan", "vanilla").err


@pytest.mark.parametrize("given", [{"method": sy.VanillaVote()}, {"method": 5}, {"plan": 5}, {"plan": sy.LogitVote}])
def test_what_is_neither_a_plan_nor_a_name_is_refused_in_one_line(given: dict[str, Any]) -> None:
    with pytest.raises(sy.SettingError, match=r"is not (a plan|the name of a method): pass") as refused:
        sy.vote(sy.simulate(20, 8, seed=2), **given)
    assert "\n" not in str(refused.value)


def test_an_empty_name_of_a_score_is_not_taken_for_none() -> None:
    with pytest.raises(sy.errors.ColumnError, match="no score column ''"):
        sy.vote(sy.simulate(20, 8, seed=2), method="vanilla", score="")


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_how_sure_a_verdict_is_does_not_depend_on_the_batch_it_is_read_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question of which everything was asked stands beside others, in this batch or in another."""
    plan = plan_for(tmp_path / "plan.json", "prm", expected=True)
    unread = pl.col("question").is_in(["q03", "q17"]) & (pl.col("sample") > 1)
    table = sy.simulate(40, 8, seed=5).with_columns(pl.concat_list("score").alias("prm")).drop("score")
    table = table.with_columns(pl.when(~unread).then("prm").alias("prm"), (~unread).alias("prm:scored"))
    whole = sy.vote(table, plan)
    monkeypatch.setattr("steelyard.tables.row_order.BATCH", 16)
    assert sy.vote(table, plan).equals(whole)
