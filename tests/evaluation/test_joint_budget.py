"""Samples and scores bought together: chosen on some questions, measured on others, beside majority and vanilla."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.evaluation.accuracy import need_labels
from steelyard.evaluation.budget_plan import BudgetPlan
from steelyard.evaluation.plan_samples_and_scores import plan_from_split, plan_samples_and_scores
from steelyard.evaluation.price_table import UnitPrices
from steelyard.evaluation.spending_strategies import SpendingStrategies, majority_strategy, sizes
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.on_demand.readings import texts_scored
from tests.building import Labelled, labelled
from tests.running import steelyard

WORLD = sy.testing.World(gap=2.0)
BOTH = ("--price", "sample=1,score=1")


@cache
def good() -> tuple[Labelled, Labelled]:
    return labelled(sy.simulate(200, 4, seed=5, world=WORLD)).split(0.5, seed=0)


@cache
def found() -> BudgetPlan:
    return plan_from_split(*good(), sy.VanillaVote(), UnitPrices(1, 1), 5)


def test_a_good_verifier_is_asked_within_the_budget_and_beats_majority_for_the_same_cost() -> None:
    row = found().figures
    assert row["margin"] is not None
    assert 0 < row["scores"] < row["n"]
    assert row["cost"] == pytest.approx(row["n"] + row["scores"])
    assert row["cost"] < 5.5
    assert row["gain"] > 0
    assert found().explain().startswith(f"Take {row['n']} samples per question and ask for")


def test_the_curve_has_a_row_a_budget_with_intervals_and_marks_the_one_asked_for() -> None:
    curve = found().table
    assert curve["budget"].to_list() == [2, 4, 5, 8]
    assert curve.filter("chosen")["budget"].to_list() == [5]
    assert (curve["low"] <= curve["accuracy"]).all()
    assert (curve["accuracy"] <= curve["high"]).all()


def test_the_plan_votes_with_what_was_measured(tmp_path: Path) -> None:
    test, row = good()[1], found().figures
    found().plan.save(tmp_path / "plan.json")
    voter = sy.load(tmp_path / "plan.json")
    assert voter.fitted_on_ is not None
    assert voter.fitted_on_.n == row["n"]
    asked = replay(asking_rule("expected"), voter, test.first(row["n"]).unlabelled())
    assert float(texts_scored(asked).mean()) == pytest.approx(row["scores"])
    assert float(voter.predict(asked).correct(test).mean()) == pytest.approx(row["accuracy"])


def test_a_verifier_that_says_nothing_is_not_asked_and_the_plan_is_majority(tmp_path: Path) -> None:
    cal, test = (part.with_shuffled_scores(1) for part in good())
    none = plan_from_split(cal, test, sy.VanillaVote(), UnitPrices(1, 1), 4)
    assert none.plan.name == "majority"
    assert none.figures["n"] == 4
    assert none.figures["gain"] == 0
    assert none.explain().startswith("Do not ask the verifier")
    none.plan.save(tmp_path / "plan.json")
    assert sy.load(tmp_path / "plan.json").predict(test.first(4)).code.shape == (test.n_questions,)


def test_majority_breaks_its_ties_without_the_scores_it_has_not_paid_for() -> None:
    pool = sy.Pool.from_arrays(question=[0, 0], answer=[4, 9], scores=[0.1, 0.9], correct=[False, True])
    assert majority_strategy(need_labels(pool), 2, UnitPrices(1, 1)).correct.tolist() == [
        0.0
    ]  # of two the one seen first


def test_free_scores_cost_nothing_and_free_samples_are_all_taken() -> None:
    cal = good()[0].first(3)
    free = SpendingStrategies(sy.VanillaVote(), cal, UnitPrices(1, 0))
    assert {way.mean for way in free.strategies} == {2.0, 3.0}
    samples = SpendingStrategies(sy.VanillaVote(), cal, UnitPrices(0, 1))
    assert samples.majority[-1].mean == 0
    assert samples.within(0.001).n == 3


def test_a_score_that_costs_a_hundred_samples_is_not_asked_for() -> None:
    assert SpendingStrategies(sy.VanillaVote(), good()[0].first(3), UnitPrices(1, 100)).within(4).margin is None


def test_the_sizes_tried_end_with_all_samples() -> None:
    assert sizes(1) == [1]
    assert sizes(7) == [1, 2, 3, 4, 5, 6, 7]
    assert sizes(64)[-3:] == [40, 48, 64]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--price", "sample=0,score=0", "--budget", "4"), "samples and scores are both free"),
        (("--price", "sample=-1,score=1", "--budget", "4"), "the price of a sample is -1"),
        (("--price", "sample=1,score=nan", "--budget", "4"), "cannot read the price 'score=nan'"),
        (("--price", "sample=1e300,score=1", "--budget", "4"), "the price of a sample is 1e+300"),
        (("--price", "sample=1,score=inf", "--budget", "4"), "the price of a score is inf"),
        ((*BOTH, "--budget", "0.5"), "a budget of 0.5 does not pay for one sample at 1"),
        ((*BOTH, "--budget", "nan"), "budget must be above 0, not nan"),
        ((*BOTH, "--budget", "65%"), "give the mean cost per question, as 32"),
        (BOTH, "set a goal: a budget"),
        ((*BOTH, "--budget", "4", "--loss", "0.1"), "a loss is for samples or sources alone"),
        ((*BOTH, "--budget", "4", "--price", "gpt=1"), "there are two prices of a sample"),
        (("--price", "score=0.5,score:gpt=1", "--budget", "4"), "such as --source llm"),
        ((*BOTH, "--budget", "4", "--score", "none"), "there are no scores to buy"),
        ((*BOTH, "--budget", "4", "--method", "majority"), "majority reads no scores to ask for"),
    ],
)
def test_prices_and_budgets_that_cannot_be_are_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    sy.simulate(60, 4, seed=5).write_parquet(tmp_path / "r.parquet")
    done = steelyard("plan-budget", tmp_path / "r.parquet", *words)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_the_command_prints_the_curve_and_writes_the_plan(tmp_path: Path) -> None:
    sy.simulate(160, 4, seed=5, world=WORLD).write_parquet(tmp_path / "r.parquet")
    words = ("plan-budget", tmp_path / "r.parquet", "--method", "vanilla", *BOTH, "--budget", 5)
    done = steelyard(*words, "-o", tmp_path / "plan.json")
    assert done.code == 0
    assert "against majority" in done.out
    assert "Plan written to" in done.out
    told = json.loads(steelyard(*words, "--json").out)
    voter = sy.load(tmp_path / "plan.json")
    assert voter.name == told["method"]
    assert told["asking"] == (voter.asking_.plain() if voter.asking_ else None)
    assert [row["budget"] for row in told["rows"]] == [2, 4, 5, 8]


def test_a_method_that_weighs_sources_is_refused_for_one_llm() -> None:
    with pytest.raises(sy.SettingError, match="use a method such as calibrated"):
        plan_samples_and_scores(good()[0], sy.CommitteeVote(), price_sample=1, price_score=1, budget=4)


def test_too_few_questions_are_refused() -> None:
    few = good()[0].take(np.arange(30))
    with pytest.raises(sy.errors.CalibrationError, match="15 questions"):
        plan_samples_and_scores(few, sy.VanillaVote(), price_sample=1, price_score=1, budget=4)
