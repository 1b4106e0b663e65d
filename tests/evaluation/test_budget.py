"""A rule for a budget or a loss: chosen on some questions, measured on others, refused where it does not pay."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.plan_stopping import plan_stopping
from steelyard.evaluation.stopping_rule_choice import RuleSearch
from steelyard.evaluation.trajectories import Trajectories, crossfit_trajectories, trajectories
from steelyard.voting.stopping.rules.beta import Beta
from steelyard.voting.stopping.rules.fixed import Fixed
from tests.building import Labelled, labelled, make
from tests.running import steelyard


@pytest.fixture(scope="module")
def both() -> tuple[Labelled, Labelled]:
    """Easy questions and hard ones: a world where stopping early pays."""
    pool = labelled(sy.simulate(500, 16, seed=31))
    return pool.split(0.5, seed=0)


@pytest.fixture(scope="module")
def shelf(both: tuple[Labelled, Labelled]) -> RuleSearch:
    return RuleSearch(crossfit_trajectories(sy.CalibratedVote(), both[0], resamples=3))


@pytest.fixture(scope="module")
def seen(both: tuple[Labelled, Labelled]) -> Trajectories:
    return trajectories(sy.CalibratedVote().fit(both[0]), both[1], resamples=3)


def stubborn(questions: int, n: int) -> Labelled:
    """Every question gets one answer, always the same: no sample after the first is worth anything."""
    return make([(q, q % 3, 0.5, q % 3 == 0) for q in range(questions) for _ in range(n)])


def misleading(questions: int) -> Labelled:
    """Half the questions begin with two wrong answers and are right after, half are undecided from the first on."""
    undecided = [(a, a == 0) for a in (0, 1)] * 6
    late = [(1, False)] * 2 + [(0, True)] * 10
    return make([(q, a, 0.5, correct) for q in range(questions) for a, correct in (undecided, late)[q % 2]])


def test_fixed_between_two_numbers_is_a_straight_line(seen: Trajectories) -> None:
    low, high = seen.fixed(4), seen.fixed(5)
    assert np.allclose(seen.fixed(4.25), 0.75 * low + 0.25 * high)
    assert np.array_equal(seen.fixed(4), seen.under(Fixed(4))[1])
    assert np.array_equal(seen.fixed(16), seen.under(Fixed(16))[1])


def test_fixed_counts_the_samples_that_short_questions_have() -> None:
    short = labelled(sy.simulate(60, 12, seed=35).filter((pl.col("sample") < 2) | (pl.col("question") > "q30")))
    assert (short.sizes.min(), short.sizes.max()) == (2, 12)
    found = trajectories(sy.MajorityVote(), short, resamples=0)
    used, correct = found.under(Fixed(8))
    assert (used.min(), used.max()) == (2, 8)
    assert np.allclose(found.fixed(float(used.mean())), correct)


def test_crossfitted_walks_are_by_fits_on_the_other_questions(both: tuple[Labelled, Labelled]) -> None:
    cal = both[0]
    found = crossfit_trajectories(sy.VanillaVote(), cal, resamples=0)
    assert np.array_equal(
        found.prefix_votes.code, trajectories(sy.VanillaVote().fit(cal), cal, resamples=0).prefix_votes.code
    )
    fitted = crossfit_trajectories(sy.LogitVote(), cal, resamples=2)
    assert sorted(fitted.owner.tolist()) == sorted(2 * list(range(cal.n_questions)))
    assert np.array_equal(fitted.prefix_votes.sizes, np.full(2 * cal.n_questions, 16))
    full = fitted.under(Fixed(16))[1].mean()
    assert full == pytest.approx(sy.accuracy(sy.LogitVote().fit(cal).predict(cal), cal), abs=0.05)


@pytest.mark.parametrize("budget", [1, 2, 5.5, 8, 16])
def test_every_offer_stays_within_the_budget(shelf: RuleSearch, budget: float) -> None:
    found = shelf.choose(samples=budget)
    assert "fixed" in found.offers
    for rule in found.offers.values():
        used, _ = shelf.trajectories.under(rule)
        assert used.mean() <= budget + 1e-9
        assert rule.cap <= 16


def test_of_fixed_numbers_the_budget_takes_the_largest_and_a_loss_the_smallest(shelf: RuleSearch) -> None:
    assert shelf.choose(samples=7.9).offers["fixed"] == Fixed(7)
    held = shelf.choose(loss=0.08).offers["fixed"].cap
    assert held < 16
    full = shelf.trajectories.fixed(16)
    for cap in range(held, 16):
        lost = full - shelf.trajectories.fixed(cap)
        assert lost.mean() + 1.645 * lost.std(ddof=1) / np.sqrt(len(lost)) < 0.08


def test_a_stated_loss_is_held_on_other_questions() -> None:
    """The choice may break its word once in twenty: of twenty worlds, once or twice, not half of the time."""
    broken = 0
    for seed in range(20):
        cal, test = labelled(sy.simulate(1000, 8, seed=100 + seed)).split(0.2, seed=0)
        rule = RuleSearch(crossfit_trajectories(sy.VanillaVote(), cal, resamples=1)).choose(loss=0.02).rule
        found = trajectories(sy.VanillaVote().fit(cal), test, resamples=1)
        broken += bool((found.fixed(8) - found.under(rule)[1]).mean() > 0.02)
    assert broken <= 3


def test_a_loss_too_small_for_the_questions_is_not_promised(shelf: RuleSearch) -> None:
    with pytest.raises(sy.errors.CalibrationError, match=r"a loss of 0.003 is too small for 250 .* label more"):
        shelf.choose(loss=0.003)
    used, correct = shelf.trajectories.under(shelf.choose(loss=0.004).rule)
    assert used.mean() <= 16
    assert correct.mean() >= shelf.trajectories.fixed(16).mean() - 0.004


def test_stopping_pays_where_questions_differ_also_on_other_questions(shelf: RuleSearch, seen: Trajectories) -> None:
    found = shelf.choose(samples=6)
    assert found.rule.name != "fixed"
    used, correct = seen.under(found.rule)
    gain = correct - seen.fixed(float(used.mean()))
    assert gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain))


def test_it_is_recommended_not_to_stop_where_stopping_cannot_pay() -> None:
    found = RuleSearch(crossfit_trajectories(sy.MajorityVote(), stubborn(40, 9), resamples=2)).choose(samples=4)
    assert found.rule == Fixed(4)
    assert found.rule.name == "fixed"


def test_the_advice_says_not_to_stop_and_how_many_samples_to_take() -> None:
    made = plan_stopping(stubborn(60, 9), sy.MajorityVote(), samples=4, resamples=2)
    assert made.explain().startswith("Do not stop early: it does not pay on the calibration questions. Take 4 samples")
    assert made.plan.stopping_ == Fixed(4)


def test_a_method_that_learns_no_confidence_is_offered_no_rule_that_needs_it(both: tuple[Labelled, Labelled]) -> None:
    found = RuleSearch(crossfit_trajectories(sy.VanillaVote(), both[0], resamples=1)).choose(samples=4)
    assert set(found.offers) == set(sy.evaluation.rule_names()) - {"confidence"}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "set a goal"),
        ({"samples": 0.5}, "between 1 and 16"),
        ({"samples": 17}, "between 1 and 16"),
        ({"samples": float("nan")}, "between 1 and 16"),
        ({"loss": -0.1}, "between 0 and 1"),
        ({"loss": 1.0}, "one point"),
        ({"loss": float("nan")}, "between 0 and 1"),
        ({"samples": 1, "loss": 0.01}, "allow 1?[0-9] samples, or a larger loss"),
    ],
)
def test_what_cannot_be_aimed_for_is_refused(shelf: RuleSearch, asked: dict[str, float], message: str) -> None:
    with pytest.raises(sy.SettingError, match=message):
        shelf.choose(**asked)


def test_too_few_questions_and_oracles_are_refused(both: tuple[Labelled, Labelled]) -> None:
    with pytest.raises(sy.errors.CalibrationError, match="too few to choose a stopping rule: label 20"):
        crossfit_trajectories(sy.CalibratedVote(), both[0].take(np.arange(19)))
    with pytest.raises(sy.SettingError, match="oracle"):
        crossfit_trajectories(sy.paper.PassAtN(), both[0])


def test_the_frontier_is_a_tidy_table_measured_on_the_test_questions(both: tuple[Labelled, Labelled]) -> None:
    table = sy.evaluation.frontier(*both, budgets=[3, 6], resamples=2, seed=3)
    assert table["rule"].to_list() == sorted(sy.evaluation.rule_names()) * 2
    assert table.group_by("budget").agg(pl.col("chosen").sum())["chosen"].to_list() == [1, 1]
    assert (table["low"] <= table["accuracy"]).all()
    assert (table["accuracy"] <= table["high"]).all()
    fixed = table.filter(pl.col("rule") == "fixed")
    assert fixed["samples"].to_list() == [3, 6]
    assert fixed["gain"].to_list() == [0, 0]
    test = trajectories(sy.CalibratedVote().fit(both[0]), both[1], resamples=2, seed=3)
    assert fixed["accuracy"].to_list() == pytest.approx([test.fixed(3).mean(), test.fixed(6).mean()])
    assert table.equals(sy.evaluation.frontier(*both, budgets=[3, 6], resamples=2, seed=3))


def test_samples_needed_lie_within_their_interval_and_stopping_needs_fewer(both: tuple[Labelled, Labelled]) -> None:
    table = sy.evaluation.samples_needed(*both, resamples=2)
    by_way = {row["way"]: row for row in table.iter_rows(named=True)}
    assert set(by_way) == {*sy.evaluation.rule_names(), "chosen"}
    vanilla = sy.accuracy(sy.VanillaVote().fit(both[0]).predict(both[1].unlabelled()), both[1])
    for row in by_way.values():
        assert row["target"] == pytest.approx(vanilla)
        assert row["low"] <= row["samples"]
        assert row["high"] is None or row["samples"] <= row["high"]
        assert row["share"] == pytest.approx(row["samples"] / 16)
    assert by_way["chosen"]["samples"] < by_way["fixed"]["samples"]


def test_a_target_out_of_reach_needs_no_number_of_samples(both: tuple[Labelled, Labelled]) -> None:
    table = sy.evaluation.samples_needed(*both, sy.MajorityVote(), target=1.0, resamples=1)
    assert set(table["way"]) == {*sy.evaluation.rule_names(), "chosen"} - {"confidence"}
    assert table["samples"].null_count() == table.height
    assert (table["reached"] == 0.0).all()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("budget") / "responses.parquet"
    sy.write(sy.simulate(160, 8, seed=32).rename({"score": "prm"}), path)
    return path


def test_plan_budget_prints_an_aligned_frontier_and_writes_the_rule(file: Path, tmp_path: Path) -> None:
    done = steelyard("plan-budget", file, "--budget", 4, "-o", tmp_path / "plan.json")
    assert done.code == 0, done.err
    assert "Accuracy over cost on 80 questions, chosen on 80 others" in done.out
    lines = done.out.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("budget "))
    start = lines[head].index("accuracy %")
    rows = lines[head + 1 : lines.index("", head)]
    assert all(row[start].isdigit() and row[start - 2 : start] == "  " for row in rows)
    assert {line[lines[head].index("buys") :].split()[0].rstrip(":") for line in rows} == set(
        sy.evaluation.rule_names()
    )
    assert "Plan written to" in done.out
    plan = sy.load(tmp_path / "plan.json")
    assert plan.stopping_ is not None
    assert plan.fitted_on_ is not None
    assert plan.fitted_on_.questions == 80
    ballot = sy.Ballot(tmp_path / "plan.json")
    assert not ballot.state.stop


def test_plan_budget_json_is_what_the_library_returns(file: Path) -> None:
    done = steelyard("plan-budget", file, "--loss", 0.05, "--json", "--seed", 2)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    made = sy.plan_budget(sy.read(file), sy.CalibratedVote(), loss=0.05, seed=2)
    assert found["rows"] == made.table.to_dicts()
    assert made.plan.stopping_ is not None
    assert found["stopping"] == json.loads(json.dumps(made.plan.stopping_.plain()))
    assert found["explanation"] == made.explain()
    assert "against all samples" in found["explanation"]


def test_plan_budget_leaves_what_a_plan_has_learned_alone(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.parquet"
    sy.write(sy.simulate(100, 8, seed=33).rename({"score": "prm"}), other)
    steelyard("fit", other, "--method", "logit", "-o", tmp_path / "plan.json")
    before = json.loads((tmp_path / "plan.json").read_text())
    done = steelyard("plan-budget", file, "--budget", 3, "--plan", tmp_path / "plan.json", "-o", tmp_path / "new.json")
    assert done.code == 0, done.err
    after = json.loads((tmp_path / "new.json").read_text())
    assert after.pop("stopping")["rule"] in sy.evaluation.rule_names()
    assert after == before
    assert json.loads((tmp_path / "plan.json").read_text()) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "set a goal: a budget"),
        (("--budget", 9), "between 1 and 8"),
        (("--budget", "many"), "cannot read the budget 'many'"),
        (("--loss", 2), "one point"),
        (("--budget", 4, "--method", "pass-at-n"), "oracle"),
        (("--budget", 4, "--method", "calibated"), "did you mean 'calibrated'"),
        (("--budget", 4, "--plan", "nowhere.json"), "no such plan"),
        (("--budget", 4, "--calibrate", 0.05), "label 20 or more"),
        (("--budget", 4, "--calibrate", 0.95), "too few to say what a rule is worth"),
        (("--budget", 4, "--calibrate", 1.0), "leaves one side empty"),
        (("--budget", 4, "-o", "no/where/plan.json"), "no folder"),
    ],
)
def test_plan_budget_refuses_in_one_line(file: Path, words: tuple[object, ...], message: str) -> None:
    done = steelyard("plan-budget", file, *words)
    assert done.code == 2
    assert message in done.err
    errors = [line for line in done.err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1


def test_plan_budget_needs_labels(tmp_path: Path) -> None:
    sy.write(sy.simulate(60, 4, seed=3).drop("correct"), tmp_path / "t.parquet")
    done = steelyard("plan-budget", tmp_path / "t.parquet", "--budget", 2)
    assert done.code == 2
    assert "needs labels" in done.err


def test_a_rule_that_falls_behind_on_the_other_questions_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from steelyard.evaluation import stopping_rule_choice as budget

    chosen = budget.RuleSearch.choose

    def misled(self: RuleSearch, *, samples: float | None = None, loss: float | None = None) -> budget.Choice:
        """Believe in a rule that stops too early on one half and wastes samples on the other."""
        found = chosen(self, samples=samples, loss=loss)
        return replace(found, rule=Beta(12, 1, 0.8), offers=found.offers | {"beta": Beta(12, 1, 0.8)})

    monkeypatch.setattr(budget.RuleSearch, "choose", misled)
    made = plan_stopping(misleading(40), sy.MajorityVote(), samples=7, resamples=0)
    assert made.plan.stopping_ == Fixed(7)
    assert made.explain().startswith("Do not stop early: beta seemed worthwhile but fell behind")
