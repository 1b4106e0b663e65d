"""Cascades: whom to ask first, whom to skip and when to stop, learned from prices and measured on other questions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation import cascade_fitting
from steelyard.evaluation.budget_plan import BudgetPlan
from steelyard.evaluation.cascade_fitting import CascadeFitter
from steelyard.evaluation.plan_cascade import plan_cascade
from steelyard.evaluation.source_prices import source_costs
from steelyard.voting.fitting.answer_odds import Panel
from steelyard.voting.stopping.cascade import Cascade
from tests.committees import committee
from tests.running import steelyard

SOURCES = {"wise": 0.9, "able": 0.7, "fair": 0.65, "poor": 1 / 6}
PRICES = {"wise": 20.0, "able": 1.0, "fair": 1.0, "poor": 10.0}


def table(questions: int = 300, *, seed: int = 0, **options: object) -> pl.DataFrame:
    """A committee whose every response has 1,000 tokens."""
    made = committee(options.pop("reliability", SOURCES), questions, seed=seed, **options)  # type: ignore[arg-type]
    return made.with_columns(tokens=pl.lit(1000))


def pool(made: pl.DataFrame) -> sy.LabelledPool:
    return sy.read_labelled(made, source="llm", tokens=True, answers="exact", score="none")


def planned(made: pl.DataFrame | None = None, prices: dict[str, float] | None = None, **options: object) -> BudgetPlan:
    labelled = pool(table() if made is None else made)
    return plan_cascade(labelled, sy.CommitteeVote(), prices or PRICES, **options)  # type: ignore[arg-type]


def cascade_of(found: BudgetPlan) -> Cascade:
    assert found.plan.cascade_ is not None
    return found.plan.cascade_


def test_a_useless_dear_source_is_skipped() -> None:
    assert "poor" not in cascade_of(planned(budget="80%")).sources


def test_a_copy_is_not_asked_beside_its_original() -> None:
    made = table(copies={"again": "able"})
    asked = cascade_of(planned(made, {**PRICES, "again": 1.0}, budget="80%"))
    for step in asked.steps:
        assert not {"able", "again"} <= set(step.sources)


def test_cheap_sources_come_first_and_the_strong_one_where_they_leave_it_open() -> None:
    cascade = cascade_of(planned(budget="80%"))
    assert set(cascade.steps[0].sources) <= {"able", "fair"}
    last = cascade.steps[-1]
    assert last.sources == ("wise",)
    assert last.high < 1


def test_prices_that_change_places_change_the_order() -> None:
    cheap = cascade_of(planned(prices={**PRICES, "wise": 0.5, "able": 20.0, "fair": 20.0}, budget=0.002))
    assert cheap.steps[0].sources == ("wise",)


def test_a_budget_is_kept_on_the_calibration_questions_and_about_on_the_others() -> None:
    found = planned(table(600), budget="70%")
    assert found.figures["cost"] <= 1.15 * 0.7 * 0.02
    best = found.table.filter(policy="best single")
    assert found.figures["accuracy"] > best["accuracy"][0] - 0.05


@pytest.mark.long
def test_a_loss_is_held_on_questions_that_nothing_was_learned_on() -> None:
    for seed in range(3):
        found = planned(table(400, seed=seed), loss=0.06)
        assert found.figures["loss"] <= 0.06
        assert found.figures["cost"] < found.table.filter(policy="everyone")["cost"][0]


def test_a_loss_that_no_cascade_can_show_leaves_everyone_asked() -> None:
    made = table(60, reliability={"one": 0.6, "two": 0.6, "three": 0.6})
    found = planned(made, {"one": 1.0, "two": 1.0, "three": 1.0}, loss=0.04)
    assert set(cascade_of(found).steps[0].sources) == {"one", "two", "three"}


def test_the_curve_has_the_single_sources_everyone_and_a_lottery_beside_it() -> None:
    found = planned(budget="80%")
    others = found.table.filter(pl.col("policy") != "cascade")
    assert others["policy"].to_list() == ["cheapest single", "best single", "everyone", "random routing"]
    assert others["buys"].to_list()[1] == "wise"
    assert int(found.table["chosen"].sum()) == 1
    lottery = found.table.filter(policy="random routing")
    assert lottery["cost"][0] == pytest.approx(found.figures["cost"])
    assert lottery["accuracy"][0] < found.figures["accuracy"]
    assert (found.table["low"] <= found.table["accuracy"]).all()


def test_the_order_of_the_file_changes_nothing() -> None:
    made = table(120)
    mixed = made.sample(fraction=1.0, shuffle=True, seed=3).sort("question", maintain_order=True)
    assert cascade_of(planned(mixed, budget="80%")) == cascade_of(planned(made, budget="80%"))


def test_a_cascade_survives_its_plan(tmp_path: Path) -> None:
    found = planned(budget="80%")
    found.plan.save(tmp_path / "plan.json")
    assert sy.load(tmp_path / "plan.json").cascade_ == cascade_of(found)


@pytest.mark.parametrize("damage", ["steps", "odds", "samples"])
def test_a_damaged_cascade_is_refused(tmp_path: Path, damage: str) -> None:
    planned(table(60), budget="80%").plan.save(tmp_path / "plan.json")
    plan = json.loads((tmp_path / "plan.json").read_text())
    for wrong in ([], 7, None, [{"ask": "x"}]):
        plan["cascade"][damage] = wrong
        (tmp_path / "bad.json").write_text(json.dumps(plan))
        if damage == "samples" and wrong == []:
            continue
        with pytest.raises(sy.PlanError, match="cascade"):
            sy.load(tmp_path / "bad.json")


def test_a_fit_forgets_the_cascade() -> None:
    found = planned(table(60), budget="80%")
    assert found.plan.fit(pool(table(60))).cascade_ is None


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ({**PRICES, "nobody": 1.0}, "'nobody', which is no source"),
        ({**PRICES, "poor": -1.0}, "the price of 'poor' is -1.0"),
        ({**PRICES, "poor": float("nan")}, "the price of 'poor' is nan"),
        ({"wise": 1.0, "able": 1.0, "fair": 1.0}, "no price for poor"),
        (dict.fromkeys(PRICES, 0.0), "every source is free"),
    ],
)
def test_prices_that_cannot_be_are_refused(prices: dict[str, float], said: str) -> None:
    with pytest.raises(sy.SettingError, match=said):
        planned(table(60), prices, budget=1.0)


@pytest.mark.parametrize("budget", [0, -1.0, float("nan"), "65", "-3%", "much%"])
def test_a_budget_that_cannot_be_is_refused(budget: float | str) -> None:
    with pytest.raises(sy.SettingError, match="budget"):
        planned(table(60), budget=budget)


def test_a_budget_below_the_cheapest_source_says_what_it_takes() -> None:
    with pytest.raises(sy.SettingError, match=r"too small.*0\.001"):
        planned(table(60), budget=1e-6)


def test_a_budget_is_never_overspent_on_the_calibration_questions_however_little_it_is_missed_by() -> None:
    labelled = pool(table(60))
    panel, cost = Panel.of(labelled), source_costs(labelled, PRICES)
    search = CascadeFitter(panel, cost, np.arange(60) % 5)
    for budget in np.linspace(0.06, 1.1, 40):
        cascade = search.fit(budget * search.unit)
        assert (cost * cascade.replay(panel).sampled).sum(axis=1).mean() <= budget * search.unit * (1 + 1e-9)


def test_tokens_are_counted_or_are_a_quarter_of_the_characters() -> None:
    made = pl.DataFrame({"question": [1, 1, 2, 2], "llm": ["a", "b"] * 2, "answer": ["x"] * 4, "correct": [True] * 4})
    text = made.with_columns(response=pl.Series(["abcd" * 5, "abcd" * 10, "abcd" * 5, "abcd" * 10]))
    prices = {"a": 1e6, "b": 1e6}
    assert source_costs(pool(text), prices).tolist() == [[5, 10], [5, 10]]
    counted = text.with_columns(tokens=pl.Series([7, None, 7, 8]))
    assert source_costs(pool(counted), prices).tolist() == [[7, 10], [7, 8]]
    paid = sy.read_labelled(
        made.with_columns(paid=pl.Series([0.5, 2.0, 0.5, 1.0])),
        source="llm",
        tokens="paid",
        answers="exact",
        score="none",
    )
    assert source_costs(paid, None).tolist() == [[0.5, 2.0], [0.5, 1.0]]


def test_without_tokens_a_price_is_one_per_response_and_that_is_said() -> None:
    with pytest.warns(sy.SteelyardWarning, match="a price is one per response"):
        costs = source_costs(pool(table(5).drop("tokens")), PRICES)
    assert costs[0].tolist() == [PRICES[name] for name in sorted(PRICES)]


def test_several_samples_of_a_source_are_asked_together() -> None:
    made = table(120, samples={"able": 3})
    found = planned(made, budget="90%")
    assert cascade_of(found).samples_of("able") == 3
    assert source_costs(pool(made), PRICES)[0, 0] == pytest.approx(0.003)


def test_a_source_that_never_answers_is_not_asked() -> None:
    made = table(120).with_columns(
        answer=pl.when(pl.col("llm") == "able").then(None).otherwise("answer"),
        correct=pl.col("correct") & (pl.col("llm") != "able"),
    )
    assert "able" not in cascade_of(planned(made, budget="80%")).sources


def test_the_search_measures_the_cost_that_the_plan_has() -> None:
    labelled = pool(table(200))
    panel, cost = Panel.of(labelled), source_costs(labelled, PRICES)
    search = CascadeFitter(panel, cost, np.arange(200) % 5)
    for budget in (0.4, 0.7, 1.2):
        cascade: Cascade = search.fit(budget * search.unit)
        spent = (cost * cascade.replay(panel).sampled).sum(axis=1).mean()
        assert spent <= budget * search.unit + 1e-12


def test_the_command_line_writes_a_plan_and_json(tmp_path: Path) -> None:
    file, plan = tmp_path / "c.parquet", tmp_path / "plan.json"
    table(120).write_parquet(file)
    price = ",".join(f"{name}={value}" for name, value in PRICES.items())
    common = ["plan-budget", str(file), "--source", "llm", "--answers", "exact", "--price", price]
    shown = steelyard(*common, "--budget", "80%", "-o", str(plan))
    assert "random routing" in shown.out
    assert sy.load(plan).cascade_ is not None
    told = json.loads(steelyard(*common, "--budget", "80%", "--json").out)
    assert told["cascade"]["steps"][0]["low"] == 0
    assert {row["policy"] for row in told["rows"]} >= {"cascade", "everyone"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--price", "a=1"], "--source llm"),
        (["--source", "llm", "--price", "a=1"], "set a goal"),
        (["--source", "llm", "--price", "a=x", "--budget", "1"], "cannot read the price"),
        (["--source", "llm", "--price", "a=1,a=2", "--budget", "1"], "two prices"),
        (["--source", "llm", "--price", "a=1,sample=tokens", "--budget", "1"], "two prices of a sample"),
        (["--source", "llm", "--price", "sample=money", "--budget", "1"], "no column 'money'"),
        (["--source", "llm", "--price", "sample=tokens", "--budget", "x"], "cannot read the budget"),
        (["--source", "llm", "--budget", "65%"], "a share of what the best source costs"),
    ],
)
def test_the_command_line_refuses_what_cannot_be_in_one_line(tmp_path: Path, options: list[str], said: str) -> None:
    file = tmp_path / "c.parquet"
    table(40).write_parquet(file)
    if options[0] == "--price":
        options = [*options, "--budget", "1"]
    found = steelyard("plan-budget", str(file), "--answers", "exact", *options)
    assert found.code == 2
    assert said in found.err
    assert found.err.count("\n") == 1


def test_a_good_source_is_asked_last_however_dear_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FEW", "STRONG"):
        monkeypatch.setattr(cascade_fitting, name, 1)
    made = table(160, reliability={"wise": 0.9, "sage": 0.75, "cheap": 0.4})
    silent = (pl.col("llm") == "wise") & pl.col("question").str.ends_with("3")
    labelled = pool(made.with_columns(answer=pl.when(~silent).then("answer"), correct=pl.col("correct") & ~silent))
    cost = source_costs(labelled, {"wise": 20.0, "sage": 120.0, "cheap": 1.0})
    search = CascadeFitter(Panel.of(labelled), cost, np.arange(160) % 5)
    last = search.fit(3 * 0.02).steps[-1]
    assert (last.sources, last.high < 1) == (("sage",), True)
