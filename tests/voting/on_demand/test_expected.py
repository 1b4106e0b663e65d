"""The rule `expected`: what it learns, what it asks for, and how a plan keeps it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.evaluation.scores_on_demand import evaluate_frugal, learn_asking
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.asking import Filling
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.on_demand.readings import texts_scored
from tests.running import steelyard
from tests.scored_committees import scored_pool

WORLD = sy.testing.World(gap=2.0)


@cache
def parts() -> tuple[sy.LabelledPool, sy.LabelledPool]:
    return sy.read_labelled(sy.simulate(120, 8, seed=5, world=WORLD)).split(0.5, seed=0)


@cache
def learned() -> sy.Method:
    cal = parts()[0]
    return learn_asking(sy.CalibratedVote().fit(cal), cal)


def test_a_good_verifier_is_asked_about_a_part_and_most_of_the_gain_is_kept() -> None:
    cal, test = sy.read_labelled(sy.simulate(500, 8, seed=5, world=WORLD)).split(0.4, seed=0)
    row = evaluate_frugal(["calibrated"], cal, test, "expected").row(0, named=True)
    assert 0 < row["scored"] < 0.7
    assert row["gain"] > 0.7 * row["gain_all_scores"] > 0


def test_a_verifier_that_says_nothing_is_not_asked_and_the_user_is_told() -> None:
    cal, test = (part.with_shuffled_scores(1) for part in parts())
    row = evaluate_frugal(["calibrated"], cal, test, "expected").row(0, named=True)
    assert row["scored"] <= 0.1
    assert row["advice"].startswith("Nothing is to be gained")


def test_a_higher_price_asks_for_no_more() -> None:
    cal, test = parts()
    vote = sy.CalibratedVote().fit(cal)
    shares = [
        texts_scored(replay(asking_rule("expected"), learn_asking(vote, cal, price=price), test)).sum()
        for price in (0.0, 0.01, 1.0)
    ]
    assert shares[0] >= shares[1] >= shares[2] == 0


def test_a_plan_keeps_what_was_learned_bit_for_bit(tmp_path: Path) -> None:
    learned().save(tmp_path / "plan.json")
    again = sy.load(tmp_path / "plan.json")
    assert again.asking_ == learned().asking_
    seen = replay(asking_rule("expected"), again, parts()[1])
    mine = replay(asking_rule("expected"), learned(), parts()[1])
    assert seen.scored is not None
    assert mine.scored is not None
    assert seen.scored.tolist() == mine.scored.tolist()
    assert again.predict(seen).confidence.tolist() == learned().predict(mine).confidence.tolist()


def test_a_plan_without_it_says_nothing_of_asking(tmp_path: Path) -> None:
    sy.CalibratedVote().fit(parts()[0]).save(tmp_path / "plan.json")
    assert "asking" not in json.loads((tmp_path / "plan.json").read_text())
    with pytest.raises(sy.SettingError, match="fit it with --frugal expected"):
        replay(asking_rule("expected"), sy.load(tmp_path / "plan.json"), parts()[1])


@pytest.mark.parametrize(
    "damage", [{"margin": -1}, {"within": 0}, {"margin": "inf"}, {"more": 1}, {"level": 1e9}, {"rule": "any"}]
)
def test_a_damaged_plan_is_refused(tmp_path: Path, damage: dict[str, object]) -> None:
    learned().save(tmp_path / "plan.json")
    content = json.loads((tmp_path / "plan.json").read_text())
    content["asking"] |= damage
    (tmp_path / "plan.json").write_text(json.dumps(content))
    with pytest.raises(sy.PlanError, match="asking is damaged"):
        sy.load(tmp_path / "plan.json")


def test_the_walk_goes_on_from_where_it_was_stopped() -> None:
    pool, vote, rule = parts()[1].unlabelled(), learned(), asking_rule("expected")
    whole = replay(rule, vote, pool)
    none = pool.only_scored(np.zeros(pool.n_responses, bool))
    first = rule.next(vote, none)
    second = rule.next(vote, pool.only_scored(first))
    assert whole.scored is not None
    assert not (first & ~whole.scored).any()
    assert not (second & ~whole.scored).any()


def test_a_refit_forgets_what_was_learned_of_asking() -> None:
    cal = parts()[0]
    vote = learn_asking(sy.CalibratedVote().fit(cal), cal)
    assert vote.fit(cal).asking_ is None


def test_the_filled_scores_of_an_answer_lie_around_those_asked() -> None:
    pool = sy.Pool.from_arrays(question=[0] * 6, answer=[1, 1, 1, 2, 2, 2], scores=[0.9, 0.9, 0.9, 0.1, 0.1, 0.1])
    seen = pool.only_scored(np.array([True, True, False, True, True, False]))
    filled = Filling(between=4.0, within=0.1).apply(seen)
    assert filled.scored is None
    assert filled.known_scores[2] > 0.8 > 0.2 > filled.known_scores[5]
    assert filled.known_scores[[0, 1, 3, 4]].tolist() == [0.9, 0.9, 0.1, 0.1]


def test_a_missing_score_is_not_one_that_was_not_asked() -> None:
    pool = sy.Pool.from_arrays(question=[0] * 4, answer=[1, 1, 2, 2], scores=[0.9, np.nan, 0.1, 0.2])
    seen = pool.only_scored(np.array([True, True, True, False]))
    filled = Filling().apply(seen).known_scores
    assert np.isnan(filled).tolist() == [False, True, False, False]


def test_evaluate_replays_both_rules_and_equal_texts_are_read_once(tmp_path: Path) -> None:
    table = sy.simulate(60, 6, seed=5, world=WORLD)
    table.write_parquet(tmp_path / "plain.parquet")
    texts = table["answer"].fill_null("none").rename("response")
    table.with_columns(texts).write_parquet(tmp_path / "texts.parquet")
    for rule in ("exact", "expected"):
        rows = []
        for name in ("plain", "texts"):
            done = steelyard("evaluate", tmp_path / f"{name}.parquet", "--frugal", rule, "--calibrate", "0.5", "--json")
            rows += json.loads(done.out)["rows"]
        assert [row["rule"] for row in rows] == [rule, rule]
        assert rows[0]["scored"] > rows[1]["scored"] or rule == "expected"
        assert rule == "expected" or rows[0]["changed"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--frugal", "exactly"), "unknown --frugal rule 'exactly'"),
        (("--frugal", "expected", "--price-score", "-1"), "the price of a score is -1"),
        (("--frugal", "exact", "--price-score", "0.1"), "--price-score needs --frugal expected"),
        (("--frugal", "exact", "--method", "optimal"), "optimal gives no bounds"),
    ],
)
def test_what_cannot_be_asked_for_is_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    sy.simulate(60, 8, seed=5).write_parquet(tmp_path / "r.parquet")
    done = steelyard("evaluate", tmp_path / "r.parquet", "--calibrate", "0.5", *words)
    assert done.code == 2
    assert said in done.err


def test_a_fit_can_learn_to_ask(tmp_path: Path) -> None:
    sy.simulate(60, 6, seed=5, world=WORLD).write_parquet(tmp_path / "r.parquet")
    done = steelyard("fit", tmp_path / "r.parquet", "--frugal", "expected", "-o", tmp_path / "plan.json")
    assert done.code == 0
    assert "of the responses are read" in done.err + done.out
    assert sy.load(tmp_path / "plan.json").asking_ is not None


def test_a_fit_for_exact_learns_how_sure_its_verdicts_are(tmp_path: Path) -> None:
    sy.simulate(60, 6, seed=5, world=WORLD).write_parquet(tmp_path / "r.parquet")
    done = steelyard("fit", tmp_path / "r.parquet", "--frugal", "exact", "-o", tmp_path / "plan.json")
    assert done.code == 0
    voter = sy.load(tmp_path / "plan.json")
    assert voter.asking_ is not None
    assert (voter.asking_.read_intercept, voter.asking_.read_slope) != (0.0, 1.0)
    assert voter.asking_.rule == "exact"  # what a bare --frugal of score goes by


def test_the_confidence_of_both_rules_is_near_that_of_all_scores() -> None:
    cal, test = sy.read_labelled(sy.simulate(400, 6, seed=9, world=WORLD)).split(1 / 4, seed=0)
    for rule in ("exact", "expected"):
        row = evaluate_frugal(["calibrated"], cal, test, rule).row(0, named=True)
        assert row["ece"] < row["ece_all_scores"] + 0.03  # of 300 questions


def test_exact_needs_no_learning_where_questions_are_few() -> None:
    pool = sy.read_labelled(sy.simulate(24, 4, seed=5, world=WORLD))
    few, rest = pool.split(0.5, seed=0)
    row = evaluate_frugal(["vanilla", "calibrated"], few, rest, "exact").row(1, named=True)
    assert row["changed"] == 0


def test_the_price_of_a_score_is_refused_beside_a_plan(tmp_path: Path) -> None:
    sy.simulate(60, 6, seed=5).write_parquet(tmp_path / "r.parquet")
    learned().save(tmp_path / "plan.json")
    words = ("--plan", tmp_path / "plan.json", "--price-score", "0")
    done = steelyard("evaluate", tmp_path / "r.parquet", *words)
    assert done.code == 2
    assert "--price-score is for measuring methods" in done.err


def test_texts_tell_which_responses_are_the_same() -> None:
    table = sy.simulate(10, 4, seed=1)
    with_text = table.with_columns(table["answer"].rename("response"))
    pool = sy.read(with_text, texts=True)
    assert pool.text is not None
    first = pool.take([0])
    assert first.text is not None
    for i in range(4):
        for j in range(i):
            known = first.answer[i] >= 0
            assert not known or (first.text[i] == first.text[j]) == (first.answer[i] == first.answer[j])
    assert replace(pool, text=None).n == pool.n


def test_responses_of_sources_whose_scores_change_nothing_are_not_asked() -> None:
    pool = scored_pool({"ant": 0.5, "bee": 0.45}, {"ant": 4.0, "bee": 4.0}, questions=80)
    quiet = replace(pool, scores=np.where(pool.source == 0, np.nan, pool.known_scores))
    vote = sy.CommitteeVote().fit(quiet)
    assert (vote.slopes_["ant"], vote.slopes_["bee"] > 0) == (0, True)
    asked = replay(asking_rule("expected"), learn_asking(vote, quiet, price=0.0001), pool.unlabelled()).scored
    assert asked is not None
    assert asked.any()
    assert not asked[pool.source == 0].any()
