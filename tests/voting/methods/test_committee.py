"""Committees: every source weighs what it is worth beside the others."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steelyard as sy
from steelyard.voting.methods import default_method
from tests.committees import FIVE, accuracy, committee, pool, with_random_labels

CAL, TEST = pool(questions=150, seed=1), pool(questions=400, seed=2)


@pytest.fixture(scope="module")
def fitted() -> sy.CommitteeVote:
    return sy.CommitteeVote().fit(CAL)


def test_good_sources_weigh_more_and_the_vote_beats_majority_and_the_best_source(fitted: sy.CommitteeVote) -> None:
    w = fitted.weights_
    assert w["ant"] > w["bee"] > w["cat"] >= w["eel"] >= 0
    best = TEST.correct[TEST.source == TEST.sources.index("ant")].mean()
    assert accuracy(fitted, TEST) > accuracy(sy.MajorityVote(), TEST) + 0.05
    assert accuracy(fitted, TEST) > best - 0.01


def test_its_confidence_is_about_how_often_it_is_correct(fitted: sy.CommitteeVote) -> None:
    verdicts = fitted.predict(TEST.unlabelled())
    assert verdicts.confidence.mean() == pytest.approx(verdicts.correct(TEST).mean(), abs=0.06)
    sure = verdicts.confidence > np.median(verdicts.confidence)
    assert verdicts.correct(TEST)[sure].mean() > verdicts.correct(TEST)[~sure].mean()


@pytest.mark.parametrize("seed", range(3))
def test_shuffled_labels_give_the_majority_vote_back(seed: int) -> None:
    vote = sy.CommitteeVote().fit(with_random_labels(CAL, seed))
    assert set(vote.weights_.values()) == {1.0}
    assert np.array_equal(vote.predict(TEST).code, sy.MajorityVote().predict(TEST).code)


@pytest.mark.parametrize("kind", [sy.CommitteeVote, sy.ConsensusVote])
@settings(max_examples=12)  # of two fits each
@given(seed=st.integers(0, 2**32 - 1))
def test_neither_the_order_of_rows_nor_the_names_of_sources_matter(kind: Any, seed: int) -> None:
    table = committee(questions=40, seed=4).drop("sample")
    rng = np.random.default_rng(seed)
    names = dict(zip(FIVE, rng.permutation([f"s{i}" for i in range(5)]).tolist(), strict=True))
    other = table.with_columns(pl.col("llm").replace_strict(names)).sample(fraction=1, shuffle=True, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        one, two = kind().fit(pool(table)), kind().fit(pool(other))
    for name, new in names.items():
        assert two.weights_[new] == pytest.approx(one.weights_[name], abs=1e-4)


@pytest.mark.parametrize("kind", [sy.CommitteeVote, sy.ConsensusVote])
def test_a_source_that_never_answers_changes_nothing(kind: Any, fitted: sy.CommitteeVote) -> None:
    table = committee(questions=60, seed=5)
    silent = table.filter(pl.col("llm") == "ant").with_columns(
        llm=pl.lit("fly"), answer=pl.lit(None, pl.String), correct=False
    )
    one, two = kind().fit(pool(table)), kind().fit(pool(pl.concat((table, silent))))
    assert {name: weight for name, weight in two.weights_.items() if name != "fly"} == one.weights_
    assert two.weights_["fly"] == one.newcomer_
    assert np.array_equal(one.predict(TEST).code, two.predict(TEST).code)


@pytest.mark.parametrize("kind", [sy.CommitteeVote, sy.ConsensusVote])
def test_copies_share_the_weight_of_one_and_that_is_said(kind: Any) -> None:
    copies = {f"cat{i}": "cat" for i in range(6)}
    with pytest.warns(sy.SteelyardWarning, match="cat, cat0, cat1.* they count as one source"):
        many = kind().fit(pool(questions=150, seed=1, copies=copies))
    alone = kind().fit(CAL)
    assert {name: many.weights_[name] for name in FIVE} == pytest.approx(alone.weights_, abs=1e-6)
    test = pool(questions=400, seed=2, copies=copies)
    assert accuracy(many, test) == accuracy(alone, TEST)  # their votes together are that of one
    assert accuracy(many, test) > accuracy(sy.MajorityVote(), test) + 0.1


def test_a_copy_is_found_with_few_labels_too() -> None:
    with pytest.warns(sy.SteelyardWarning, match="bee, wasp give the same answer even where they are wrong"):
        both = sy.CommitteeVote().fit(pool(questions=36, seed=2, copies={"wasp": "bee"}))
    assert both.voters_["wasp"] == both.voters_["bee"]
    alone = sy.CommitteeVote().fit(pool(questions=36, seed=2))
    assert accuracy(both, pool(questions=400, seed=12, copies={"wasp": "bee"})) == accuracy(
        alone, pool(questions=400, seed=12)
    )


def test_a_curve_of_a_committee_knows_every_source_at_every_n(recwarn: pytest.WarningsRecorder) -> None:
    found = sy.evaluation.curves(["majority", "committee"], CAL, TEST, resamples=2)
    assert found.of("committee")[:, -1].mean() > found.of("majority")[:, -1].mean()
    assert not [str(each.message) for each in recwarn if "does not know" in str(each.message)]


def test_samples_of_one_source_share_its_vote() -> None:
    table = committee({"ant": 0.8, "bee": 0.6, "cat": 0.6}, 150, samples={"cat": 9}, seed=3)
    vote = sy.CommitteeVote().fit(pool(table))
    part = pool(table.filter(pl.col("question") == "q0000"))
    weights = vote.weigh(part)
    cats = np.asarray(part.source) == part.sources.index("cat")
    assert cats.sum() == 9
    assert weights[cats].sum() == pytest.approx(vote.weights_["cat"])
    test = pool(committee({"ant": 0.8, "bee": 0.6, "cat": 0.6}, 300, samples={"cat": 9}, seed=4))
    assert (
        accuracy(vote, test) > accuracy(sy.CommitteeVote().fit(pool(table.filter(pl.col("sample") == 0))), test) - 0.02
    )


def test_a_source_is_negative_only_beyond_doubt() -> None:
    liar = committee({**FIVE, "liar": 0.02}, 600, seed=6, rivals=1)
    assert sy.CommitteeVote().fit(pool(liar)).weights_["liar"] < 0
    few = sy.CommitteeVote().fit(pool(committee({**FIVE, "liar": 0.02}, 30, seed=6)))
    assert min(few.weights_.values()) >= 0


@pytest.mark.parametrize(
    ("llm", "answer"),
    [("constant", "1"), ("wrong", "99"), ("late", "2")],
    ids=["always the same answer", "always wrong", "one vote"],
)
def test_an_odd_source_does_no_harm(llm: str, answer: str) -> None:
    def odd(table: pl.DataFrame) -> sy.LabelledPool:
        rows = table.filter(pl.col("llm") == "ant").with_columns(llm=pl.lit(llm), answer=pl.lit(answer))
        rows = rows.with_columns(correct=pl.col("answer") == "0").head(1 if llm == "late" else rows.height)
        return pool(pl.concat((table, rows)).sort("question", "sample", "llm"))

    cal, test = (odd(committee(questions=count, seed=seed)) for count, seed in ((150, 1), (400, 2)))
    vote, free = sy.CommitteeVote().fit(cal), sy.ConsensusVote().fit(cal)
    assert np.isfinite([*vote.weights_.values(), *free.weights_.values()]).all()
    assert accuracy(vote, test) > accuracy(sy.CommitteeVote().fit(CAL), TEST) - 0.02
    assert accuracy(free, test) >= accuracy(sy.MajorityVote(), test)


def test_a_source_with_one_label_is_drawn_to_the_others() -> None:
    table = committee(questions=150, seed=1)
    late = table.filter((pl.col("llm") == "eel") & ~pl.col("correct")).head(1).with_columns(llm=pl.lit("late"))
    vote = sy.CommitteeVote().fit(pool(pl.concat((table, late)).sort("question", "sample", "llm")))
    assert 0 <= vote.weights_["late"] <= max(vote.weights_.values())
    lucky = late.with_columns(answer=pl.lit("0"), correct=True)
    other = sy.CommitteeVote().fit(pool(pl.concat((table, lucky)).sort("question", "sample", "llm")))
    assert abs(other.weights_["late"] - vote.weights_["late"]) < vote.weights_["ant"] / 2


def test_a_missing_source_does_not_vote_and_an_unknown_one_is_told(fitted: sy.CommitteeVote) -> None:
    table = committee(questions=50, seed=7)
    some = pool(table.filter(pl.col("llm") != "ant"))
    weights = fitted.weigh(some)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.predict(some)
    assert set(np.unique(weights)) == {fitted.weights_[name] for name in FIVE if name != "ant"}
    new = pool(table.with_columns(llm=pl.col("llm").replace("ant", "gnu")))
    with pytest.warns(sy.SteelyardWarning, match="the plan does not know gnu"):
        fitted.predict(new)
    assert fitted.weigh(new)[new.source == new.sources.index("gnu")][0] == fitted.newcomer_
    assert fitted.newcomer_ == pytest.approx(np.mean(list(fitted.weights_.values())), abs=1e-5)


def test_a_plan_for_sources_refuses_a_pool_that_does_not_say_who_answered(fitted: sy.CommitteeVote) -> None:
    with pytest.raises(sy.PlanError, match="weighs the sources of 'llm': read the table with source='llm'"):
        fitted.predict(replace(TEST, source=None, sources=()))


def test_a_plan_names_its_sources_and_votes_as_before(fitted: sy.CommitteeVote, tmp_path: Path) -> None:
    fitted.save(tmp_path / "plan.json")
    content = json.loads((tmp_path / "plan.json").read_text())
    assert list(content["learned"]["weights_"]) == sorted(FIVE)
    assert content["fitted_on"]["source"] == "llm"
    loaded = sy.load(tmp_path / "plan.json")
    one, two = fitted.predict(TEST), loaded.predict(TEST)
    assert one.total.tobytes() == two.total.tobytes()
    assert one.confidence.tobytes() == two.confidence.tobytes()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("weights_", "ant"), "inf"), (("weights_", "ant"), 1e9), (("weights_", "ant"), True), (("voters_", "ant"), 7),
        (("voters_", "ant"), 0.5), (("slopes_", "bee"), -1), (("centres_", "bee"), 99), (("weights_", "new"), 1.0),
    ],
)  # fmt: skip
def test_a_damaged_committee_is_refused(fitted: sy.CommitteeVote, tmp_path: Path, place: Any, value: Any) -> None:
    fitted.save(tmp_path / "plan.json")
    content = json.loads((tmp_path / "plan.json").read_text())
    content["learned"][place[0]][place[1]] = value
    (tmp_path / "plan.json").write_text(json.dumps(content))
    with pytest.raises(sy.PlanError):
        sy.load(tmp_path / "plan.json")


def test_with_scores_it_learns_what_the_scores_of_every_source_are_worth() -> None:
    rng = np.random.default_rng(0)

    def scored(seed: int) -> sy.LabelledPool:
        plain = pool(questions=300, seed=seed)
        telling = np.where(plain.source == plain.sources.index("bee"), 3.0, 0.0)
        z = rng.normal(0, 1, plain.n_responses) + telling * (plain.correct - 0.5)
        return replace(plain, scores=1 / (1 + np.exp(-z)))

    cal, test = scored(1), scored(2)
    vote = sy.CommitteeVote().fit(cal)
    assert vote.slopes_["bee"] > 2 * vote.slopes_["ant"] >= 0
    assert accuracy(vote, test) > accuracy(sy.CommitteeVote().fit(replace(cal, scores=None)), test) + 0.01
    named = sy.CommitteeVote().fit(replace(cal, origin=replace(cal.origin, score="prm")))
    with pytest.raises(sy.PlanError, match="was fitted on the score 'prm'"):
        named.predict(replace(test, origin=replace(test.origin, score="orm")))


def test_with_few_labels_the_unlabelled_questions_help() -> None:
    wide = {f"s{i:02d}": 0.3 + 0.06 * i for i in range(11)}
    every, test = pool(committee(wide, 400, seed=8)), pool(committee(wide, 600, seed=9))
    gains = []
    for seed in range(4):
        few, _ = every.split(20 / 400, seed=seed)
        gains.append(accuracy(sy.CommitteeVote().fit(few, unlabelled=every.unlabelled()), test))
        gains[-1] -= max(accuracy(sy.CommitteeVote().fit(few), test), accuracy(sy.ConsensusVote().fit(every), test))
    assert np.mean(gains) > -0.01


def test_it_is_the_default_where_there_are_two_sources(fitted: sy.CommitteeVote) -> None:
    assert default_method(CAL) == "committee"
    assert default_method(pool(committee({"ant": 0.8}, 20))) == "calibrated"
    found = sy.evaluate(None, CAL, TEST, n=[5])["method"].to_list()
    assert {"committee", "consensus", "majority"} <= set(found)
    plain = sy.read_labelled(sy.simulate(60, 4))
    assert not {"committee", "consensus"} & set(sy.evaluate(None, plain, plain, n=[4])["method"].to_list())
    assert "ant weighs most" in fitted.explain()


@pytest.mark.parametrize("kind", [sy.CommitteeVote, sy.ConsensusVote, sy.MajorityVote])
@settings(max_examples=8)  # of two fits each
@given(seed=st.integers(0, 2**32 - 1), by_llm=st.booleans())
def test_names_of_sources_break_no_ties(kind: Any, seed: int, by_llm: bool) -> None:
    """Two answers with the same total, and no scores: the one seen first wins, whatever the sources are called."""
    rng = np.random.default_rng(seed)
    names = [f"s{i}" for i in range(4)]
    table = committee(dict.fromkeys(names, 0.5), 30, seed=seed, rivals=2, samples={"s1": 2, "s3": 2})
    if by_llm:  # rows that are sorted when they are read
        table = table.sort("llm", "sample", "question")
    renamed = dict(zip(names, rng.permutation(["z", "y", "x", "w"]).tolist(), strict=True))
    other = table.with_columns(pl.col("llm").replace_strict(renamed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        one, two = kind().fit(pool(table)), kind().fit(pool(other))
    if kind is not sy.MajorityVote:
        one.weights_ = dict.fromkeys(names, 1.0)
        two.weights_ = dict.fromkeys(renamed.values(), 1.0)
    answers = [vote.predict(pool(rows)).to_polars()["answer"].to_list() for vote, rows in ((one, table), (two, other))]
    assert answers[0] == answers[1]
