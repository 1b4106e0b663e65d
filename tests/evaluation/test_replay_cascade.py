"""The replay of a plan's cascade: on questions that it was not learned on, with what it costs and whom it asks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.budget_plan import BudgetPlan
from steelyard.voting.stopping.cascade import CascadeOrigin
from tests.evaluation.test_cascades import PRICES, cascade_of, planned, pool, table
from tests.running import Done, steelyard


@pytest.fixture(scope="module")
def found() -> BudgetPlan:
    return planned(table(200), budget="80%")


@pytest.fixture
def folder(tmp_path: Path, found: BudgetPlan) -> Path:
    found.plan.save(tmp_path / "plan.json")
    table(200).write_parquet(tmp_path / "same.parquet")
    return tmp_path


def evaluate(folder: Path, *words: object, file: str = "same.parquet") -> Done:
    return steelyard("evaluate", folder / file, "--plan", folder / "plan.json", "--answers", "exact", *words)


def test_on_its_own_file_it_says_what_plan_budget_said_of_the_questions_it_was_tested_on(found: BudgetPlan) -> None:
    again = sy.evaluation.replay_cascade(pool(table(200)), found.plan)
    cascade, everyone = again.rows.to_dicts()
    assert (again.questions, again.left_out) == (found.test_questions, found.calibration_questions)
    for name in ("accuracy", "se", "cost"):
        assert cascade[name] == pytest.approx(found.figures[name])
    whole = found.table.filter(policy="everyone").row(0, named=True)
    assert everyone["accuracy"] == pytest.approx(whole["accuracy"])
    assert everyone["cost"] == pytest.approx(whole["cost"])
    assert cascade["gain"] == pytest.approx(-found.figures["loss"])


def test_the_costs_of_the_sources_add_up_and_the_shares_are_of_questions(found: BudgetPlan) -> None:
    again = sy.evaluation.replay_cascade(pool(table(200)), found.plan)
    asked = dict(again.sampled.select("source", "sampled").iter_rows())
    assert asked["poor"] == 0
    assert 0 < asked["wise"] < 1
    assert again.sampled["cost"].sum() == pytest.approx(again.rows["cost"][0])
    assert again.sampled.filter(source="wise")["cost"][0] == pytest.approx(asked["wise"] * PRICES["wise"] / 1000)


def test_it_is_what_a_ballot_by_the_plan_does_question_by_question(found: BudgetPlan) -> None:
    other = table(40, seed=7).with_columns(question="new" + pl.col("question"))
    again = sy.evaluation.replay_cascade(pool(other), found.plan)
    assert again.left_out == 0
    right, asked = 0, 0
    for _, rows in other.group_by("question"):
        said = dict(rows.select("llm", "answer").iter_rows())
        ballot = sy.Ballot(found.plan, answers="exact")
        while ballot.state.next:
            for name in ballot.state.next:
                ballot.add(said[name], source=name)
                asked += 1
        right += ballot.verdict == "0"
    assert again.rows["accuracy"][0] == pytest.approx(right / 40)
    assert again.sampled["sampled"].sum() == pytest.approx(asked / 40)


def test_a_file_with_nothing_but_questions_it_was_learned_on_is_refused(found: BudgetPlan) -> None:
    labelled = pool(table(200))
    learned = cascade_of(found).origin.learned_on(labelled.questions.to_list())
    with pytest.raises(sy.errors.CalibrationError, match="learned on every one of these questions"):
        sy.evaluation.replay_cascade(labelled.take(np.flatnonzero(learned)), found.plan)


def test_a_plan_that_does_not_say_what_it_was_learned_on_is_told(found: BudgetPlan) -> None:
    method = sy.clone(found.plan).fit(pool(table(200)))
    method.cascade_ = replace(cascade_of(found), origin=CascadeOrigin(PRICES))
    with pytest.warns(sy.SteelyardWarning, match="does not say which questions"):
        assert sy.evaluation.replay_cascade(pool(table(200)), method).questions == 200


def test_a_source_of_the_cascade_that_the_table_does_not_have_is_refused(found: BudgetPlan) -> None:
    with pytest.raises(sy.SettingError, match="asks wise, and no source of that name"):
        sy.evaluation.replay_cascade(pool(table(200).filter(pl.col("llm") != "wise")), found.plan)


def test_other_prices_change_the_cost_and_nothing_else(found: BudgetPlan) -> None:
    usual = sy.evaluation.replay_cascade(pool(table(200)), found.plan)
    twice = sy.evaluation.replay_cascade(
        pool(table(200)), found.plan, {name: 2 * price for name, price in PRICES.items()}
    )
    assert twice.rows["cost"].to_list() == pytest.approx((2 * usual.rows["cost"]).to_list())
    assert twice.rows["accuracy"].to_list() == usual.rows["accuracy"].to_list()


def test_a_price_per_response_stays_one_where_tokens_are_known_later() -> None:
    bare = table(100).drop("tokens")
    with pytest.warns(sy.SteelyardWarning, match="each counts as a million"):
        made = planned(bare, budget="80%")
    with pytest.warns(sy.SteelyardWarning, match="each counts as a million"):
        again = sy.evaluation.replay_cascade(pool(table(100)), made.plan)
    assert again.rows["cost"][0] == pytest.approx(made.figures["cost"])


def test_the_command_shows_accuracy_cost_and_who_is_asked(folder: Path) -> None:
    done = evaluate(folder)
    assert done.code == 0, done.err
    assert "The cascade of the plan on 100 questions: ask " in done.out
    assert "100 other questions are left out, because the cascade was learned on them." in done.out
    told = json.loads(evaluate(folder, "--json").out)
    assert [row["policy"] for row in told["rows"]] == ["cascade", "everyone"]
    assert {row["source"] for row in told["sampled"]} == set(PRICES)
    assert (told["test_questions"], told["left_out_questions"]) == (100, 100)


def test_a_column_of_costs_stands_in_for_prices(folder: Path, found: BudgetPlan) -> None:
    table(200).with_columns(paid=pl.lit(3.0)).write_parquet(folder / "paid.parquet")
    told = json.loads(evaluate(folder, "--price", "sample=paid", "--json", file="paid.parquet").out)
    assert told["rows"][1]["cost"] == pytest.approx(3.0 * len(PRICES))
    found.plan.save(folder / "plan.json")
    plan = json.loads((folder / "plan.json").read_text())
    del plan["cascade"]["prices"]
    (folder / "plan.json").write_text(json.dumps(plan))
    done = evaluate(folder)
    assert done.code == 2
    assert "the plan has no prices: give --price" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--method", "majority"), "--method is for measuring methods"),
        (("-n", "4"), "-n is for measuring methods"),
        (("--resamples", "0"), "--resamples is for measuring methods"),
        (("--calibrate", "0.5"), "--calibrate is for measuring methods"),
        (("--price", "wise=1,sample=tokens"), "two prices of a sample"),
        (("--price", "score=1"), "a cascade buys responses of sources"),
    ],
)
def test_options_that_do_not_go_with_a_plan_are_refused(folder: Path, words: tuple[str, ...], said: str) -> None:
    done = evaluate(folder, *words)
    assert done.code == 2
    assert said in done.err


def test_a_plan_without_a_cascade_and_prices_without_a_plan_are_refused(folder: Path) -> None:
    sy.CommitteeVote().fit(pool(table(60))).save(folder / "plan.json", overwrite=True)
    done = evaluate(folder)
    assert done.code == 2
    assert "this plan has no cascade to replay" in done.err
    alone = steelyard("evaluate", folder / "same.parquet", "--source", "llm", "--price", "wise=1")
    assert alone.code == 2
    assert "add --plan plan.json" in alone.err


@pytest.mark.parametrize("wrong", [{"prices": {"a": -1}}, {"prices": 7}, {"learned_on": "x"}, {"per_response": 1}])
def test_prices_and_questions_of_a_damaged_plan_are_refused(folder: Path, wrong: dict[str, object]) -> None:
    plan = json.loads((folder / "plan.json").read_text())
    plan["cascade"] |= wrong
    (folder / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(sy.PlanError, match="cascade"):
        sy.load(folder / "plan.json")


def test_vote_counts_everyone_and_says_so(folder: Path, found: BudgetPlan) -> None:
    with pytest.warns(sy.SteelyardWarning, match=r"counts every response in the table.*evaluate FILE --plan PLAN"):
        verdicts = sy.vote(folder / "same.parquet", folder / "plan.json", answers="exact")
    labelled = pool(table(200))
    assert verdicts["answer"].to_list() == found.plan.predict(labelled.unlabelled()).answer.tolist()
