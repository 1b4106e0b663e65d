"""Abstention, scores that have moved, learning curves and measures of confidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import steelyard as sy
from steelyard.evaluation.method_tables import confidence_table, learning_curve
from steelyard.voting.confidence.drift import (
    MOST_REFERENCES,
    question_means,
    reference_scores,
    score_drift,
)
from steelyard.voting.confidence.risk_control import binomial_tail, control_risk
from tests.building import Labelled, labelled
from tests.running import make_plan, steelyard


def drawn(questions: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A confidence that holds, and what was right."""
    rng = np.random.default_rng(seed)
    confidence = rng.beta(2, 1, questions)
    return confidence, rng.random(questions) < confidence


def test_the_binomial_tail_is_scipys() -> None:
    for k, n, p in ((0, 10, 0.1), (3, 50, 0.05), (40, 300, 0.2), (7, 7, 0.3)):
        assert binomial_tail(k, n, p) == pytest.approx(stats.binom.cdf(k, n, p), rel=1e-9)


def test_a_promise_is_broken_no_more_often_than_said() -> None:
    broken = made = 0
    for seed in range(400):
        try:
            held = control_risk(drawn(200, seed), drawn(200, 10_000 + seed), risk=0.2, confidence_level=0.9)
        except sy.errors.CalibrationError:
            continue
        t = held.threshold  # the true error above it, for confidence ~ Beta(2, 1): density 2c
        error = 1 - (2 / 3) * (1 - t**3) / (1 - t**2)
        made += 1
        broken += error > 0.2
    assert made > 300
    assert stats.binomtest(broken, 400, 0.1, alternative="greater").pvalue > 0.001


def test_a_promise_that_cannot_be_kept_is_refused() -> None:
    with pytest.raises(sy.errors.CalibrationError, match="even without a mistake it takes 22"):
        control_risk(drawn(200, 0), drawn(20, 1), risk=0.1)
    useless = np.full(200, 0.5), np.arange(200) % 2 == 0
    with pytest.raises(sy.errors.CalibrationError, match="no threshold holds the error at 10%"):
        control_risk(useless, useless, risk=0.1)
    with pytest.raises(sy.SettingError, match="risk must lie between 0 and 1"):
        control_risk(drawn(200, 0), drawn(200, 1), risk=0.0)


def test_only_a_plan_with_reserved_questions_promises(cal: Labelled) -> None:
    with pytest.raises(sy.errors.CalibrationError, match="reserved no questions"):
        sy.CalibratedVote().fit(cal).risk_control(0.1)


def test_explain_counts_the_reserved_questions_apart(cal: Labelled) -> None:
    half = cal.n_questions // 2
    told = sy.CalibratedVote(reserve=0.5).fit(cal).explain()
    assert told.startswith(f"Fitted on {cal.n_questions - half} questions ({half} others reserved) at N = ")


def test_reserved_questions_are_not_learned_from(cal: Labelled) -> None:
    one = sy.CalibratedVote(reserve=0.5).fit(cal)
    order = np.random.default_rng(0).permutation(cal.n_questions)[cal.rank]
    apart = order < round(0.5 * cal.n_questions)
    correct = cal.answer_correct.copy()
    for q in np.flatnonzero(apart):
        correct[cal.base[q] : cal.base[q] + cal.width[q]] ^= True
    other = sy.CalibratedVote(reserve=0.5).fit(replace(cal, answer_correct=correct))
    assert one.theta.tolist() == other.theta.tolist()
    assert one.reserved_confidence_ is not None
    assert len(one.reserved_confidence_) == apart.sum()


def test_voting_with_a_risk_takes_answers_away(tmp_path: Path) -> None:
    sy.simulate(400, 16, seed=1).write_parquet(tmp_path / "t.parquet")
    make_plan(tmp_path / "t.parquet", "--set", "reserve=0.5", "-o", tmp_path / "p.json")
    out = steelyard(
        "vote", tmp_path / "t.parquet", "--plan", tmp_path / "p.json", "--risk", 0.2, "-o", tmp_path / "v.parquet"
    ).out
    verdicts = pl.read_parquet(tmp_path / "v.parquet")
    assert verdicts["answer"].is_null().sum() == (~verdicts["answered"]).sum() > 0
    assert verdicts.filter("answered")["confidence"].min() > verdicts.filter(~pl.col("answered"))["confidence"].max()  # type: ignore[operator]
    assert f"Answered {verdicts['answered'].to_numpy().mean():.0%}" in out
    steelyard("fit", tmp_path / "t.parquet", "--method", "logit", "-o", tmp_path / "l.json")
    failed = steelyard("vote", tmp_path / "t.parquet", "--plan", tmp_path / "l.json", "--risk", 0.2)
    assert "--method calibrated --set reserve=0.5" in failed.err


def test_scores_that_have_moved_are_noticed_and_others_are_not() -> None:
    pool = labelled(sy.simulate(600, 8, seed=3))
    one, two = pool.take(np.arange(300)), pool.take(np.arange(300, 600))
    still = score_drift(reference_scores(one), question_means(two))
    assert still is not None
    assert still.warning is None
    moved = score_drift(reference_scores(one), question_means(replace(two, scores=np.sqrt(two.known_scores))))
    assert moved is not None
    assert "do not look like the calibration scores" in str(moved.warning)
    assert score_drift((), question_means(two)) is None
    assert len(reference_scores(labelled(sy.simulate(MOST_REFERENCES + 50, 2, seed=1)))) == MOST_REFERENCES


@pytest.mark.long
def test_a_shift_is_called_as_rarely_as_said() -> None:
    rng = np.random.default_rng(0)
    called = sum(score_drift(rng.normal(size=60), rng.normal(size=50), seed=i).p <= 0.1 for i in range(200))  # type: ignore[union-attr]
    assert stats.binomtest(called, 200, 0.1).pvalue > 0.001


def test_voting_on_moved_scores_warns(tmp_path: Path) -> None:
    table = sy.simulate(300, 8, seed=1)
    table.write_parquet(tmp_path / "t.parquet")
    table.with_columns(pl.col("score").sqrt().sqrt()).write_parquet(tmp_path / "moved.parquet")
    make_plan(tmp_path / "t.parquet", "-o", tmp_path / "p.json")
    assert "do not look like" not in steelyard("vote", tmp_path / "t.parquet", "--plan", tmp_path / "p.json").err
    assert "do not look like" in steelyard("vote", tmp_path / "moved.parquet", "--plan", tmp_path / "p.json").err


def test_a_learning_curve_is_measured_on_other_questions(cal: Labelled) -> None:
    pool = labelled(sy.simulate(240, 8, seed=5))
    curve = learning_curve(sy.CalibratedVote(), pool)
    assert [row.questions for row in curve] == [30, 60, 120, 192]
    assert all(0 < row.se < 0.2 for row in curve)
    few = pool.take(np.arange(30))
    assert [row.questions for row in learning_curve(sy.CalibratedVote(), few)] == [15, 24]


def test_measures_of_confidence_by_hand(cal: Labelled, test: Labelled) -> None:
    table = confidence_table(["majority", "calibrated", "optimal"], cal, test)
    assert table["method"].to_list() == ["calibrated"]
    verdicts = sy.CalibratedVote().fit(cal).predict(test)
    correct = verdicts.correct(test)
    assert table["brier"][0] == pytest.approx(((verdicts.confidence - correct) ** 2).mean())
    ranked = correct[np.argsort(-verdicts.confidence, kind="stable")]
    expected = np.mean([1 - ranked[: k + 1].mean() for k in range(len(ranked))])
    assert table["aurc"][0] == pytest.approx(expected)


def test_without_labels_the_plan_is_vanilla_and_says_so(tmp_path: Path) -> None:
    sy.simulate(30, 4, seed=1).drop("correct").write_parquet(tmp_path / "t.parquet")
    shown = steelyard("fit", tmp_path / "t.parquet", "-o", tmp_path / "p.json")
    assert "no labels, so nothing can be calibrated: the plan is vanilla" in shown.err
    assert sy.load(tmp_path / "p.json").name == "vanilla"
    assert "fitting needs labels" in steelyard("fit", tmp_path / "t.parquet", "--method", "calibrated").err


def test_a_risk_that_was_controlled_with_more_samples_is_refused() -> None:
    plan = sy.CalibratedVote(reserve=0.5).fit(sy.read_labelled(sy.simulate(400, 8, seed=1)))
    table = sy.simulate(50, 8, seed=2)
    assert sy.vote(table, plan, risk=0.3).height == 50
    with pytest.raises(sy.SettingError, match="controlled with 8 samples per question, and this vote uses 4"):
        sy.vote(table, plan, risk=0.3, n=4)
