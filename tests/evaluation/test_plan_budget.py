"""One planner: the prices say what is for sale, and every search returns the same kind of result."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.evaluation.budget_plan import BudgetPlan
from steelyard.evaluation.plan_cascade import plan_cascade
from steelyard.evaluation.plan_committee import plan_committee
from steelyard.evaluation.plan_samples_and_scores import plan_samples_and_scores
from steelyard.evaluation.plan_stopping import plan_stopping
from steelyard.evaluation.price_table import PriceTable
from tests.building import Labelled, labelled
from tests.running import steelyard
from tests.scored_committees import scored_committee, scored_pool


@cache
def one() -> Labelled:
    return labelled(sy.simulate(80, 4, seed=5, world=sy.testing.World(gap=2.0)))


@cache
def committee() -> sy.LabelledPool:
    return scored_pool({"ant": 0.6, "bee": 0.4}, {"ant": 4.0, "bee": 4.0}, questions=60, samples=2, seed=1)


def same(left: BudgetPlan, right: BudgetPlan) -> None:
    """Assert that two results have equal tables and plans."""
    assert left.table.equals(right.table)
    assert left.explain() == right.explain()
    for name, value in right.plan.learned().items():
        np.testing.assert_equal(left.plan.learned()[name], value)
    for part in ("stopping_", "cascade_", "asking_", "samples_"):
        assert getattr(left.plan, part) == getattr(right.plan, part), part


def test_without_prices_a_budget_counts_samples() -> None:
    same(sy.plan_budget(one(), sy.VanillaVote(), budget=2), plan_stopping(one(), sy.VanillaVote(), samples=2))


def test_a_price_of_a_sample_changes_the_costs_and_not_the_rule() -> None:
    usual = sy.plan_budget(one(), sy.VanillaVote(), budget=2)
    dear = sy.plan_budget(one(), sy.VanillaVote(), prices={"sample": 3}, budget=6)
    assert dear.plan.stopping_ == usual.plan.stopping_
    assert dear.figures["cost"] == pytest.approx(3 * usual.figures["cost"])
    assert dear.table["budget"].to_list() == [3 * budget for budget in usual.table["budget"]]


def test_prices_of_samples_and_scores_buy_both() -> None:
    result = sy.plan_budget(one(), sy.VanillaVote(), prices={"sample": 1, "score": 1}, budget=5)
    same(result, plan_samples_and_scores(one(), sy.VanillaVote(), price_sample=1, price_score=1, budget=5))
    assert result.plan.samples_ == {"": result.figures["n"]}


def test_samples_without_a_price_are_free() -> None:
    result = sy.plan_budget(one(), sy.VanillaVote(), prices={"score": 1}, budget=2)
    same(result, plan_samples_and_scores(one(), sy.VanillaVote(), price_sample=0, price_score=1, budget=2))


def test_a_price_of_a_score_alone_is_in_accuracy() -> None:
    cheap, dear = (sy.plan_budget(one(), sy.VanillaVote(), prices={"score": price}) for price in (0.0001, 1.0))
    assert cheap.plan.asking_ is not None
    assert cheap.figures["scores"] > 0
    assert dear.figures["scores"] == 0
    assert cheap.table["policy"].to_list() == ["scores on demand", "every score", "no score"]


def test_prices_of_sources_learn_whom_to_ask() -> None:
    prices = {"ant": 3e6, "bee": 1e6}
    result = sy.plan_budget(committee(), prices=prices, budget="90%")
    same(result, plan_cascade(committee(), sy.CommitteeVote(), prices, budget="90%"))


def test_a_column_of_costs_stands_for_the_prices_of_sources() -> None:
    result = sy.plan_budget(committee(), prices={"sample": "tokens"}, budget=25)
    same(result, plan_cascade(committee(), sy.CommitteeVote(), budget=25))


@pytest.mark.long
def test_prices_of_sources_and_scores_buy_samples_and_scores_of_each() -> None:
    prices: dict[str, Any] = {"ant": 3e6, "bee": 1e6, "score": 2, "score:ant": 5}
    result = sy.plan_budget(committee(), prices=prices, budget=60)
    priced: dict[str, Any] = {"price_score": {"ant": 5.0, "bee": 2.0}, "budget": 60}
    same(result, plan_committee(committee(), sy.CommitteeVote(), {"ant": 3e6, "bee": 1e6}, **priced))
    assert result.plan.samples_ == {name: n for name, n in result.figures["samples"].items() if n}


@pytest.mark.long
def test_every_result_has_the_same_interface(tmp_path: Path) -> None:
    results = [
        sy.plan_budget(one(), sy.VanillaVote(), budget=2),
        sy.plan_budget(one(), sy.VanillaVote(), prices={"sample": 1, "score": 1}, budget=5),
        sy.plan_budget(one(), sy.VanillaVote(), prices={"score": 0.001}),
        sy.plan_budget(committee(), prices={"ant": 3e6, "bee": 1e6}, budget="90%"),
        sy.plan_budget(committee(), prices={"sample": 1, "score": 0.5}, budget=3),
    ]
    for i, result in enumerate(results):
        assert {"buys", "cost", "accuracy", "se", "low", "high", "chosen", *result.rivals} <= set(result.table.columns)
        assert {"buys", "cost", "accuracy"} <= set(result.figures)
        assert result.table["chosen"].any()
        assert result.explain()
        result.save(tmp_path / f"{i}.json")
        assert sy.load(tmp_path / f"{i}.json").samples_ == result.plan.samples_


def test_a_fitted_method_votes_as_it_is() -> None:
    cal, other = one().split(0.5, seed=0)
    vote = sy.LogitVote().fit(cal)
    before = vote.learned()
    result = sy.plan_budget(other, vote, budget=2)
    assert result.plan.fitted_on_ == vote.fitted_on_
    np.testing.assert_equal(result.plan.learned(), before)
    with pytest.raises(sy.SettingError, match="give one that is not fitted, as method='calibrated'"):
        sy.plan_budget(other, vote, prices={"sample": 1, "score": 1}, budget=4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "set a goal"),
        ({"budget": 9}, "between 1 and 4"),
        ({"budget": float("nan")}, "between 1 and 4"),
        ({"budget": "4"}, "budget must be a number, not the str '4'"),
        ({"budget": "50%"}, "a share of what the best source costs"),
        ({"prices": {"sample": 0}, "budget": 4}, "there is nothing to save"),
        ({"prices": {"sample": -1}, "budget": 4}, "the price of a sample is -1"),
        ({"prices": {"score": "1"}, "budget": 4}, "must be a number, not the str '1'"),
        ({"prices": {"sample": 1, "score": 1}, "loss": 0.1}, "give a budget"),
        ({"prices": {"sample": 1, "gpt": 1}, "budget": 4}, "two prices of a sample"),
        ({"prices": {"gpt": 1}, "budget": 4}, "read the table with source='llm'"),
        ({"prices": {"score:gpt": 1}, "budget": 4}, "read the table with source='llm'"),
        ({"prices": {"score:gpt": 1}}, "set a goal"),
        ({"prices": 3, "budget": 4}, "prices must be a mapping, not 3"),
        ({"prices": {3: 1}, "budget": 4}, "prices are by name, not by the int 3"),
        ({"prices": {"sample": True}, "budget": 4}, "the price of a sample must be a number, not the bool True"),
        ({"budget": True}, "budget must be a number, not the bool True"),
        ({"loss": True}, "loss must be a number, not the bool True"),
    ],
)
def test_what_cannot_be_planned_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(sy.SettingError, match=message):
        sy.plan_budget(one(), sy.VanillaVote(), **options)


def test_what_to_read_follows_from_the_prices() -> None:
    assert [PriceTable.of(prices).tokens for prices in ({"gpt": 1}, {"sample": "paid"}, {"sample": 1}, None)] == [
        True, "paid", False, False,
    ]  # fmt: skip


def test_numbers_of_samples_that_cannot_be_are_a_damaged_plan(tmp_path: Path) -> None:
    vote = sy.VanillaVote().fit(one())
    vote.samples_ = {"": 3}
    vote.save(tmp_path / "plan.json")
    assert sy.load(tmp_path / "plan.json").samples_ == {"": 3}
    content = json.loads((tmp_path / "plan.json").read_text())
    for wrong in ({}, {"": 0}, {"": 2.5}, {"": "3"}, {"": True}, [3], 3, {"": 10**9}):
        (tmp_path / "bad.json").write_text(json.dumps(content | {"samples": wrong}))
        with pytest.raises(sy.PlanError):
            sy.load(tmp_path / "bad.json")


def test_a_fit_forgets_how_many_samples_to_draw() -> None:
    vote = sy.VanillaVote().fit(one())
    vote.samples_ = {"": 3}
    assert replace(vote).fit(one()).samples_ is None


def test_the_command_plans_scores_without_a_budget(tmp_path: Path) -> None:
    sy.simulate(80, 4, seed=5, world=sy.testing.World(gap=2.0)).write_parquet(tmp_path / "r.parquet")
    words = ("--method", "vanilla", "--price", "score=0.001", "-o", tmp_path / "plan.json", "--json")
    done = steelyard("plan-budget", tmp_path / "r.parquet", *words)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    asking = sy.load(tmp_path / "plan.json").asking_
    assert asking is not None
    assert told["asking"] == asking.plain()


def test_the_command_reads_a_column_of_costs(tmp_path: Path) -> None:
    scored_committee({"ant": 0.6, "bee": 0.4}, {}, questions=60, samples=1).write_parquet(tmp_path / "r.parquet")
    words = ("--source", "llm", "--answers", "exact", "--score", "none", "--price", "sample=tokens")
    done = steelyard("plan-budget", tmp_path / "r.parquet", *words, "--budget", "150%", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["cascade"]["steps"]


@pytest.mark.parametrize("prices", [None, {"sample": 1}])
def test_a_budget_of_samples_is_divided_among_the_sources_without_buying_scores(
    prices: dict[str, float] | None,
) -> None:
    result = sy.plan_budget(committee(), prices=prices, budget=2)
    same(result, plan_committee(committee(), sy.CommitteeVote(), price_sample=1, price_score=None, budget=2))
    assert 0 < sum((result.plan.samples_ or {}).values()) <= 2
    assert result.figures["scored"] == []
    assert "verifier" not in result.explain()


def test_a_committee_without_prices_by_source_has_no_plan_for_a_loss_nor_for_what_is_fitted() -> None:
    divided = r"at once.* give a budget of samples.* or prices by source .*as ant=10,bee=0.1"
    with pytest.raises(sy.SettingError, match=divided):
        sy.plan_budget(committee(), loss=0.01)
    with pytest.raises(sy.SettingError, match=divided):
        sy.plan_budget(committee(), sy.CommitteeVote().fit(committee()), budget=2)
    with pytest.raises(sy.SettingError, match="do not have two: use method='calibrated'"):
        sy.plan_budget(one(), sy.CommitteeVote(), budget=2)
    with pytest.raises(sy.SettingError, match="plan with the method committee"):
        sy.plan_budget(committee(), sy.ConsensusVote(), budget=2)


def test_the_command_divides_samples_among_sources_without_scores(tmp_path: Path) -> None:
    scored_committee({"ant": 0.9, "bee": 0.1}, {}, questions=60, samples=2).write_parquet(tmp_path / "r.parquet")
    words = ("--source", "llm", "--answers", "exact", "--score", "none", "-o", tmp_path / "plan.json")
    done = steelyard("plan-budget", tmp_path / "r.parquet", *words, "--budget", 2, "--json")
    assert done.code == 0, done.err
    assert "ant" in json.loads(done.out)["samples"]
    assert sy.load(tmp_path / "plan.json").samples_ == json.loads(done.out)["samples"]
    refused = steelyard("plan-budget", tmp_path / "r.parquet", *words, "--overwrite", "--loss", 0.01)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "as ant=10,bee=0.1" in refused.err


def test_a_new_plan_keeps_nothing_of_the_budget_of_the_old_one() -> None:
    cal, other = one().split(0.5, seed=0)
    old = sy.plan_budget(cal, sy.VanillaVote(), prices={"sample": 1, "score": 0.1}, budget=4).plan
    old.asking_ = sy.plan_budget(cal, sy.VanillaVote(), prices={"score": 0.0001}).plan.asking_
    assert None not in (old.samples_, old.asking_)
    assert old.fitted_on_ is not None
    new = sy.plan_budget(other, old, budget=2).plan
    assert new.fitted_on_ == old.fitted_on_
    assert (new.stopping_ is None, new.samples_, new.asking_, new.cascade_) == (False, None, None, None)
    prices = {"ant": 3e6, "bee": 1e6}
    bought = sy.CommitteeVote().fit(committee())
    bought.samples_, bought.stopping_, bought.asking_ = {"ant": 2}, new.stopping_, old.asking_
    turns = sy.plan_budget(committee(), bought, prices=prices, budget="90%").plan
    assert (turns.stopping_, turns.samples_, turns.asking_, turns.cascade_ is None) == (None, None, None, False)


@pytest.mark.parametrize(
    ("read", "prices", "message"),
    [
        ("tokens", {"sample": "cost"}, "column 'cost', and the pool was read with 'tokens'.*tokens='cost'"),
        (True, {"sample": "cost"}, "column 'cost', and the pool was read with 'tokens'.*tokens='cost'"),
        ("cost", {"sample": "tokens"}, "column 'tokens', and the pool was read with 'cost'"),
        (False, {"sample": "cost"}, "the pool has no costs: read the table with tokens='cost'"),
        ("cost", {"ant": 1, "bee": 2}, "per million tokens, and the pool was read with tokens='cost'"),
    ],
)
def test_costs_are_those_of_the_column_that_was_read(read: bool | str, prices: dict[str, Any], message: str) -> None:
    table = scored_committee({"ant": 0.6, "bee": 0.4}, {}, questions=40, samples=1).with_columns(cost=0.5)
    pool = sy.read_labelled(table, source="llm", answers="exact", score="none", tokens=read)
    with pytest.raises(sy.SettingError, match=message):
        sy.plan_budget(pool, prices=prices, budget="90%")


def test_tokens_may_be_estimated_or_of_unknown_origin() -> None:
    table = scored_committee({"ant": 0.9, "bee": 0.4}, {}, questions=60, samples=1)
    counted = sy.read_labelled(table, source="llm", answers="exact", score="none", tokens=True)
    texts = table.rename({"answer": "response"}).drop("tokens")
    estimated = sy.read_labelled(texts, source="llm", answers="exact", score="none", tokens=True)
    by_hand = replace(counted, origin=replace(counted.origin, tokens=None))
    assert (counted.origin.tokens, estimated.origin.tokens) == ("tokens", "response")
    for pool in (counted, estimated, by_hand):
        assert sy.plan_budget(pool, prices={"ant": 3, "bee": 1}, budget="90%").plan.cascade_


def test_a_method_may_be_named() -> None:
    same(sy.plan_budget(one(), "vanilla", budget=2), sy.plan_budget(one(), sy.VanillaVote(), budget=2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("responses.parquet",), "plan_budget takes a pool, not a str: read it with steelyard.read_labelled"),
        ((None, "calibated"), "did you mean 'calibrated'"),
        ((None, sy.VanillaVote), r"VanillaVote is a class: pass a method, as VanillaVote\(\)"),
        ((None, 3), "3 is not a method: pass its name, as 'calibrated', or a method object"),
    ],
)
def test_what_is_no_pool_or_no_method_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    pool, *more = arguments
    with pytest.raises(sy.SettingError, match=message):
        sy.plan_budget(pool or one(), *more, budget=2)


def test_the_table_marks_the_plan_and_nothing_else() -> None:
    results = [
        sy.plan_budget(one(), sy.VanillaVote(), budget=2),
        sy.plan_budget(one(), sy.VanillaVote(), loss=0.2),
        sy.plan_budget(one(), sy.VanillaVote(), budget=3, loss=0.2),
        sy.plan_budget(one(), sy.VanillaVote(), prices={"sample": 1, "score": 1}, budget=5),
        sy.plan_budget(one(), sy.VanillaVote(), prices={"score": 0.001}),
        sy.plan_budget(committee(), prices={"ant": 3e6, "bee": 1e6}, budget="90%"),
    ]
    for result in results:
        rows = result.table.filter("chosen").to_dicts()
        assert len(rows) == 1
        assert {name: rows[0][name] for name in ("buys", "cost", "accuracy")} == {
            name: result.figures[name] for name in ("buys", "cost", "accuracy")
        }
    assert [result.table.filter("chosen")["budget"].item() for result in results[:4]] == [2, None, 3, 5]


def test_the_command_marks_one_row_of_its_table(tmp_path: Path) -> None:
    sy.simulate(80, 4, seed=5).write_parquet(tmp_path / "r.parquet")
    for goal, budget in ((("--budget", 2), "2 *"), (("--loss", 0.2), "none *")):
        done = steelyard("plan-budget", tmp_path / "r.parquet", "--method", "vanilla", *goal)
        rows = [line for line in done.out.splitlines() if " *  " in line]
        assert len(rows) == 1, done.out
        assert rows[0].startswith(budget)
        assert "*: the plan." in done.out


def test_a_plan_excludes_a_method_on_the_command_line(tmp_path: Path) -> None:
    sy.simulate(80, 4, seed=5).write_parquet(tmp_path / "r.parquet")
    sy.VanillaVote().fit(one()).save(tmp_path / "plan.json")
    words = ("--plan", tmp_path / "plan.json", "--budget", 2)
    done = steelyard("plan-budget", tmp_path / "r.parquet", *words, "--method", "majority")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "a plan and a method exclude each other" in done.err
    scores = steelyard("plan-budget", tmp_path / "r.parquet", *words, "--price", "score=0.1")
    assert scores.code == 2
    assert "give one that is not fitted, as --method calibrated" in scores.err
