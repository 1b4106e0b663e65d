"""Samples and scores of several sources bought together: chosen on some questions, measured on others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.cli.plan_budget_view import show_json
from steelyard.evaluation.budget_plan import BudgetPlan
from steelyard.evaluation.committee_strategies import CommitteeStrategies
from steelyard.evaluation.plan_committee import Baselines, plan_committee
from steelyard.evaluation.purchase import Purchase, levels_of
from steelyard.evaluation.source_prices import priced
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.base_rule import replay
from tests.running import steelyard
from tests.scored_committees import scored_committee, scored_pool

GOOD = {"ant": 0.5, "bee": 0.4}
ONE: dict[str, Any] = {"price_sample": 1, "budgets": []}


def plan(pool: sy.Pool, prices: Mapping[str, float] | None = None, **options: Any) -> BudgetPlan:
    return plan_committee(pool, sy.CommitteeVote(), prices, **options)


@cache
def told() -> sy.LabelledPool:
    """Two sources whose scores tell correct responses from others."""
    return scored_pool(GOOD, {"ant": 4.0, "bee": 4.0}, questions=100, seed=1)


@cache
def found() -> BudgetPlan:
    return plan(told(), price_sample=1, price_score=0.5, budget=8, budgets=[2])


@pytest.mark.long
def test_a_good_verifier_is_bought_within_the_budget_and_beats_majority_and_the_best_source() -> None:
    row = found().figures
    assert row["scored"]
    assert row["cost"] < 9
    assert row["gain_low"] > 0
    assert row["over_single_low"] > 0
    assert row["single"] == "ant"


def test_the_cost_is_that_of_the_samples_and_of_the_scores_of_every_source() -> None:
    for row in found().table.iter_rows(named=True):
        samples, scores = sum(row["samples"].values()), sum(row["scores"].values())
        assert row["cost"] == pytest.approx(samples + 0.5 * scores)
        assert all(scores <= row["samples"][name] for name, scores in row["scores"].items())
        assert {name for name, read in row["scores"].items() if read} <= set(row["scored"])


@pytest.mark.long
def test_costs_by_tokens_and_by_the_source_of_a_score_add_up_response_by_response() -> None:
    prices, score = {"ant": 3e6, "bee": 1e6}, {"ant": 7.0, "bee": 2.0}
    row = plan(told(), prices, price_score=score, budget=150, budgets=[]).figures
    tokens = {name: sum(10 + i for i in range(n)) for name, n in row["samples"].items()}
    paid = sum(prices[name] / 1e6 * tokens[name] + score[name] * row["scores"][name] for name in prices)
    assert row["cost"] == pytest.approx(paid)


def test_a_verifier_that_says_nothing_is_not_bought() -> None:
    row = plan(told().with_shuffled_scores(3), **ONE, price_score=0.5, budget=8).figures
    assert (row["scored"], row["margin"], sum(row["scores"].values())) == ([], None, 0)


@pytest.mark.long
def test_a_cheap_poor_source_with_a_verifier_beats_a_dear_good_one_without() -> None:
    pool = scored_pool({"ant": 0.65, "bee": 0.45}, {"ant": 0.0, "bee": 5.0}, seed=2)
    row = plan(pool, {"ant": 1e6, "bee": 1e5}, price_score=0.1, budget=12, budgets=[]).figures
    assert row["samples"]["bee"] > 1
    assert "bee" in row["scored"]
    assert row["over_single_low"] > 0


@pytest.mark.long
def test_only_the_scores_that_are_worth_their_price_are_bought() -> None:
    pool = scored_pool({"ant": 0.5, "bee": 0.5}, {"ant": 4.0, "bee": 4.0}, seed=1)
    row = plan(pool, **ONE, price_score={"ant": 500, "bee": 0.1}, budget=8).figures
    assert row["scored"] == ["bee"]
    assert row["scores"]["ant"] == 0


@pytest.mark.long
def test_free_scores_are_bought_and_cost_nothing() -> None:
    row = plan(told(), **ONE, price_score=0, budget=6).figures
    assert row["scored"]
    assert row["cost"] == sum(row["samples"].values())


@pytest.mark.long
def test_of_free_samples_some_are_taken_whatever_the_budget() -> None:
    row = plan(told(), price_sample=0, price_score=1, budget=0.001, budgets=[]).figures
    assert (row["cost"], row["scored"]) == (0, [])
    assert sum(row["samples"].values()) > 1


@pytest.mark.long
def test_a_source_without_scores_is_asked_for_none_and_its_plan_gives_them_no_weight() -> None:
    pool = scored_pool({"ant": 0.5, "bee": 0.45}, {"bee": 4.0}, seed=4)
    made = plan(pool, **ONE, price_score=0.1, budget=9)
    assert made.figures["scored"] == ["bee"]
    assert made.figures["scores"]["ant"] == 0
    if isinstance(made.plan, sy.CommitteeVote):
        assert made.plan.slopes_.get("ant", 0.0) == 0
        assert made.plan.slopes_["bee"] > 0
    else:
        assert made.figures["samples"]["ant"] == 0


@pytest.mark.long
def test_nothing_is_chosen_by_the_questions_it_is_measured_on() -> None:
    """With other labels on the test questions the choice and the plan are the same, and only the figures change."""
    pool, other = told(), np.array(told().answer_correct)
    _, test = pool.split(0.5, seed=0)
    for base, width in zip(test.base.tolist(), test.width.tolist(), strict=True):
        other[base : base + width] = ~other[base : base + width]
    again = plan(replace(pool, answer_correct=other), price_sample=1, price_score=0.5, budget=8, budgets=[2])
    choices = [made.table.select("budget", "buys", "margin", "scores").rows() for made in (found(), again)]
    assert choices[0] == choices[1]
    for name, value in found().plan.learned().items():
        np.testing.assert_equal(again.plan.learned()[name], value)
    assert found().figures["accuracy"] > again.figures["accuracy"]


def test_the_plan_decides_as_it_was_measured(tmp_path: Path) -> None:
    row, (_, test) = found().figures, told().split(0.5, seed=0)
    found().plan.save(tmp_path / "plan.json")
    voter = sy.load(tmp_path / "plan.json")
    part = test.first_of_sources(row["samples"])
    assert (voter.name, voter.fitted_on_ is not None) == (row["method"], True)
    seen = replay(asking_rule("expected"), voter, part.unlabelled())
    assert float(voter.predict(seen).correct(part).mean()) == pytest.approx(row["accuracy"])
    assert seen.scored is not None
    assert float(seen.scored.sum() / part.n_questions) == pytest.approx(sum(row["scores"].values()))


def test_with_all_that_is_bought_scored_the_better_of_committee_and_calibrated_votes() -> None:
    cal, _ = priced(told(), None, 1, 0.5).split(0.5, 0)
    strategies = CommitteeStrategies(sy.CommitteeVote(), cal)
    both = strategies.with_scores(Purchase((2, 2), (True, True)))
    assert {one.method for one in both} == {"committee", "calibrated"}
    assert {one.method for one in strategies.with_scores(Purchase((2, 2), (True, False)))} == {"committee"}
    assert all((way.scores.sum(axis=0) > 0).all() for way in both)


def test_majority_with_more_samples_begins_with_the_cheapest_source_and_reads_no_score() -> None:
    whole = priced(told(), {"ant": 5e6, "bee": 1e6}, None, 1.0)
    baselines = Baselines(*whole.split(0.5, 0))
    means = [each.mean for each in baselines.all_sources]
    assert means == sorted(means)
    assert means[0] == pytest.approx(10)  # one sample of bee: ten tokens
    assert not any(each.scores.any() for each in baselines.all_sources)
    assert baselines.best_source(20) == 1, "nobody can buy ant for 20"
    assert baselines.best_source(500) == 0


@pytest.mark.long
def test_equal_texts_are_read_and_paid_once() -> None:
    pool = told()
    copies = replace(pool, text=pool.answer.astype(np.int64))  # whoever gives an answer says the same words
    row = plan(copies, **ONE, price_score=0.5, budget=8).figures
    assert row["scored"]
    given = copies.first_of_sources(row["samples"])
    assert sum(row["scores"].values()) <= float(given.m.mean()) + 0.5


def test_the_neighbours_of_a_purchase_differ_by_one_step_and_buy_something() -> None:
    levels = [[0, 1, 2], [0, 1, 2]]
    near = set(Purchase((1, 0), (False, False)).neighbours(levels, [True, False]))
    assert near == {
        Purchase((2, 0), (False, False)),
        Purchase((1, 1), (False, False)),
        Purchase((0, 1), (False, False)),
        Purchase((1, 0), (True, False)),
    }
    assert Purchase((1, 1), (True, False)).moved(0, -1, levels) == Purchase((0, 1), (False, False))


def test_the_numbers_of_samples_tried_are_those_of_each_source() -> None:
    table = scored_committee(GOOD, {"ant": 1.0}, questions=30, samples=6).filter(
        (pl.col("llm") == "ant") | (pl.col("sample") < 1)
    )
    pool = sy.read_labelled(table, source="llm", answers="exact", score="score", tokens=True)
    assert levels_of(pool) == [[0, 1, 2, 4, 6], [0, 1]]


@pytest.mark.long
def test_questions_that_a_source_left_out_count_as_not_correct_and_free() -> None:
    table = scored_committee(GOOD, {"ant": 4.0, "bee": 4.0}, seed=1)
    holes = table.filter((pl.col("llm") == "ant") | ~pl.col("question").str.ends_with("3"))
    pool = sy.read_labelled(holes, source="llm", answers="exact", score="score", tokens=True)
    bought, where = Purchase((0, 2), (False, False)).of(pool)
    assert (bought.n_questions, pool.n_questions) == (len(where), 120)
    assert len(where) < 120
    assert 0 < plan(pool, **ONE, price_score=0.5, budget=6).figures["accuracy"] < 1


def test_a_source_that_hardly_answered_is_refused_by_name() -> None:
    table = scored_committee(GOOD, {"ant": 4.0})
    few = table.filter((pl.col("llm") == "ant") | pl.col("question").str.ends_with("3"))
    pool = sy.read_labelled(few, source="llm", answers="exact", score="score", tokens=True)
    with pytest.raises(sy.errors.CalibrationError, match=r"bee answered \d+ of 60 questions.*leave its responses out"):
        plan(pool, **ONE, price_score=1, budget=4)


def test_too_few_questions_and_a_method_that_weighs_no_sources_are_refused() -> None:
    with pytest.raises(sy.errors.CalibrationError, match="15 questions"):
        plan(told().take(np.arange(30)), **ONE, price_score=1, budget=4)
    with pytest.raises(sy.SettingError, match="plan with the method committee"):
        plan_committee(told(), sy.CalibratedVote(), price_sample=1, price_score=1, budget=4)
    with pytest.raises(sy.SettingError, match="these responses have one"):
        plan(told().from_sources(["ant"]), **ONE, price_score=1, budget=4)
    with pytest.raises(sy.SettingError, match="not both"):
        plan(told(), {"ant": 1, "bee": 1}, price_sample=1, price_score=1, budget=4)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("committee") / "r.parquet"
    scored_committee(GOOD, {"ant": 4.0, "bee": 4.0}, questions=50, samples=2, seed=1).write_parquet(path)
    return path


FOR = ("--source", "llm", "--answers", "exact")
PRICES = ("--price", "ant=3,bee=1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*PRICES, "--price", "score=nan", "--budget", "4"), "cannot read the price 'score=nan'"),
        ((*PRICES, "--price", "score=-1", "--budget", "4"), "the price of a score is -1"),
        ((*PRICES, "--price", "score=1e300", "--budget", "4"), "the price of a score is 1e+300"),
        (
            ("--price", "ant=-3,bee=1", "--price", "score=1", "--budget", "4"),
            "the price of a million tokens of 'ant' is",
        ),
        (("--price", "ant=1e99,bee=1", "--price", "score=1", "--budget", "4"), "'ant' is 1e+99: give what one costs"),
        (("--price", "ant=nan,bee=1", "--price", "score=1", "--budget", "4"), "cannot read the price 'ant=nan'"),
        (("--price", "ant=3", "--price", "score=1", "--budget", "4"), "no price for bee"),
        (
            ("--price", "ant=3,bee=1,cow=2", "--price", "score=1", "--budget", "4"),
            "a price for 'cow', which is no source",
        ),
        (("--price", "ant=0,bee=0", "--price", "score=0", "--budget", "4"), "samples and scores are all free"),
        ((*PRICES, "--price", "score:ant=1", "--budget", "4"), "no price of a score for bee"),
        ((*PRICES, "--price", "score:ant=1,score:cow=2", "--budget", "4"), "a price of a score for 'cow'"),
        ((*PRICES, "--price", "score=1,score:ant=-1", "--budget", "4"), "a score of 'ant' is -1"),
        ((*PRICES, "--price", "score=1", "--budget", "0.000001"), "does not pay for one sample of bee at 1.05e-05"),
        ((*PRICES, "--price", "score=1", "--budget", "nan"), "budget must be above 0, not nan"),
        ((*PRICES, "--price", "score=1", "--budget", "65%"), "give the mean cost per question, as 32"),
        ((*PRICES, "--price", "score=1"), "set a goal: a budget"),
        ((*PRICES, "--price", "score=1,sample=1", "--budget", "4"), "two prices of a sample"),
        ((*PRICES, "--price", "score=1", "--budget", "4", "--loss", "0.1"), "a loss is for samples or sources alone"),
        ((*PRICES, "--price", "score=1", "--budget", "4", "--score", "none"), "there are no scores to buy"),
        ((*PRICES, "--price", "score=1", "--budget", "4", "--method", "vanilla"), "plan with the method committee"),
    ],
)
def test_prices_and_budgets_that_cannot_be_are_one_line(file: Path, words: tuple[str, ...], said: str) -> None:
    done = steelyard("plan-budget", file, *FOR, *words)
    assert done.code == 2, done.out
    assert said in done.err
    assert done.err.count("\n") == 1


def test_prices_by_source_without_a_source_say_how_to_name_it(file: Path) -> None:
    done = steelyard("plan-budget", file, *PRICES, "--price", "score=1", "--budget", 4)
    assert (done.code, "such as --source llm" in done.err) == (2, True)


def test_the_command_prints_what_to_buy_and_how_and_writes_the_plan(file: Path, tmp_path: Path) -> None:
    words = ("--price", "sample=1,score=0.5", "--budget", 4, "-o", tmp_path / "plan.json")
    done = steelyard("plan-budget", file, *FOR, *words)
    assert done.code == 0, done.err
    assert "against the best source" in done.out
    assert "Samples to take per question:" in done.out
    plan = sy.load(tmp_path / "plan.json")
    assert plan.name in ("committee", "calibrated")
    assert plan.samples_
    assert set(plan.samples_) <= {"ant", "bee"}


def test_as_json_it_has_every_row_and_what_the_plan_has_learned(capsys: pytest.CaptureFixture[str]) -> None:
    show_json(found(), 7)
    told = json.loads(capsys.readouterr().out)
    assert [row["budget"] for row in told["rows"]] == [2, 8]
    assert next(row for row in told["rows"] if row["chosen"]) == told["figures"]
    asking = found().plan.asking_
    assert asking is not None
    assert told["asking"] == asking.plain()
    assert (told["seed"], told["explanation"]) == (7, found().explain())


@pytest.mark.long
def test_a_table_of_one_source_is_planned_as_one_llm(tmp_path: Path) -> None:
    scored_committee({"ant": 0.5}, {"ant": 4.0}, questions=80, samples=3).write_parquet(tmp_path / "one.parquet")
    words = ("--price", "ant=1e6", "--price", "score=1", "--budget", 40, "--json")
    done = steelyard("plan-budget", tmp_path / "one.parquet", *FOR, *words)
    assert done.code == 0, done.err
    assert "all responses are of ant, so the plan is for one LLM; a sample costs 11" in done.err
    told = json.loads(done.out)
    assert told["figures"]["cost"] == pytest.approx(11 * told["figures"]["n"] + told["figures"]["scores"])
