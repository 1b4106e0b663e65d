"""The default vote: what it learns, what it is sure of, what it promises."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

import steelyard as sy
from steelyard.evaluation.accuracy import need_labels
from steelyard.voting.fitting.conditional_logit import (
    FEATURES,
    MAJORITY,
    MEAN_PENALTY,
    PENALTIES,
    VOTES_PENALTY,
    AnswerFeatures,
    answer_features,
    choice_probabilities,
    fit_conditional_logit,
)
from steelyard.voting.methods.base.guarded import out_of_fold
from steelyard.voting.pools.scores import expit
from steelyard.voting.score_weights import clipped_logit
from tests.building import Labelled, labelled


def answers_of(pool: sy.Pool) -> AnswerFeatures:
    return answer_features(pool, clipped_logit(pool.known_scores))


def test_a_slate_holds_what_is_known_of_every_answer() -> None:
    pool = sy.Pool.from_arrays(
        question=[0, 0, 0, 0, 1], answer=[4, 9, 4, -1, 7], scores=[0.2, 0.9, 0.6, 0.5, 0.5], correct=[1, 0, 1, 0, 0]
    )
    found = answers_of(pool)
    z = clipped_logit(np.array([0.2, 0.9, 0.6]))
    assert FEATURES == ("votes", "mean", "best", "sum", "share")
    assert found.x[0] == pytest.approx([np.log(2), np.log(0.4), z[2], (z[0] + z[2]) / 4, 0.5])
    assert found.x[1] == pytest.approx([0.0, np.log(0.9), z[1], z[1] / 4, 0.25])
    assert (found.correct.tolist(), found.starts.tolist()) == ([True, False, False], [0, 2])
    assert found.open.tolist() == [True, False]


def test_the_fit_is_the_maximum_of_the_penalised_likelihood(cal: Labelled) -> None:
    answers = answers_of(cal).take(answers_of(cal).open)
    centred = answers.x - np.repeat(
        np.add.reduceat(answers.x, answers.starts) / answers.sizes[:, None], answers.sizes, axis=0
    )
    spread = np.sqrt((centred**2).mean(axis=0))

    def loss(theta: np.ndarray[Any, Any]) -> float:
        share = choice_probabilities(answers, theta / spread)
        correct = np.add.reduceat(np.where(answers.correct, share, 0.0), answers.starts)
        away = theta - MAJORITY * spread
        penalty = np.array([VOTES_PENALTY / spread[0] ** 2, MEAN_PENALTY, 4, 64, 64])
        return float(-np.log(correct).sum() + (penalty * away**2).sum() / 2)

    found = fit_conditional_logit(answers, 4.0)
    assert (found[1:4] >= 0).all()
    free = minimize(loss, found * spread, bounds=[(None, None), (0, None), (0, None), (0, None), (None, None)])
    assert loss(found * spread) == pytest.approx(free.fun, rel=1e-6)


def test_an_infinite_penalty_leaves_votes_and_their_mean_score(cal: Labelled) -> None:
    votes, mean, *others = fit_conditional_logit(answers_of(cal), np.inf).tolist()
    assert votes > 0
    assert mean > 0
    assert others == [0, 0, 0]


def test_special_cases_are_the_votes_everyone_knows(test: Labelled) -> None:
    distinct = replace(test, scores=np.random.default_rng(0).permutation(np.linspace(0.01, 0.99, test.n_responses)))
    plain = sy.CalibratedVote.of()
    assert np.array_equal(plain.predict(test).code, sy.MajorityVote().predict(test).code)
    heard = sy.CalibratedVote.of(votes=1.0, mean=1.0)
    assert np.array_equal(heard.predict(distinct).code, sy.VanillaVote().predict(distinct).code)
    best = sy.CalibratedVote.of(votes=0.0, best=1.0)
    assert np.array_equal(best.predict(distinct).code, sy.BestOfN().predict(distinct).code)
    added = sy.CalibratedVote.of(votes=0.0, slope=1.0, offset=0.5)
    paper = sy.LogitVote()
    paper.offset_, paper.fitted_on_ = 0.5, added.fitted_on_
    assert np.array_equal(added.predict(distinct).code, paper.predict(distinct).code)


def test_scores_without_meaning_change_no_verdict() -> None:
    pool = labelled(sy.simulate(900, 16, seed=6)).with_shuffled_scores(3)
    cal, test = pool.take(np.arange(300)), pool.take(np.arange(300, 900))
    vote = sy.CalibratedVote().fit(cal)
    assert vote.votes_by_majority
    assert np.array_equal(vote.predict(test).code, sy.MajorityVote().predict(test).code)


def test_a_vote_that_believes_no_score_says_so(cal: Labelled) -> None:
    vote = sy.CalibratedVote().fit(cal)
    assert "votes by majority" not in vote.explain()
    changed = (vote.predict(cal).code != sy.MajorityVote().predict(cal).code).sum()
    assert f"the plan changes {changed} of {cal.n_questions} verdicts of the majority vote" in vote.explain()
    vote.mean_ = vote.best_ = vote.slope_ = 0.0
    assert "these scores do not help, so the plan votes by majority; with about" in vote.explain()


def test_scores_turned_round_are_not_believed(cal: Labelled, test: Labelled) -> None:
    turned, other = (replace(pool, scores=1 - pool.known_scores) for pool in (cal, test))
    vote = sy.CalibratedVote().fit(turned)
    gain = float(sy.accuracy(vote.predict(other), other)) - float(sy.accuracy(sy.MajorityVote().predict(other), other))
    assert (vote.mean_, vote.best_, vote.slope_, vote.offset_) == (0.0, 0.0, 0.0, 0.0)
    assert gain > -0.02


def test_nothing_to_choose_between_is_the_majority_vote() -> None:
    lone = sy.Pool.from_arrays(
        question=[0, 0, 1, 1], answer=[0, 0, 0, 1], scores=[0.5, 0.9, 0.2, 0.1], correct=[1, 1, 0, 0]
    )
    assert fit_conditional_logit(answers_of(lone), 1.0).tolist() == MAJORITY.tolist()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([p for p in PENALTIES if p < np.inf]))
def test_a_better_score_never_harms_its_answer(seed: int, penalty: float) -> None:
    rng = np.random.default_rng(seed)
    rows = 200
    pool = sy.Pool.from_arrays(
        question=np.repeat(np.arange(25), 8),
        answer=rng.integers(0, 3, rows),
        scores=rng.random(rows),
    )
    correct = pool.labelled((pool.answer == 0) & pool.readable)
    theta = fit_conditional_logit(answers_of(correct), penalty)
    vote = sy.CalibratedVote.of(votes=theta[0], mean=theta[1], best=theta[2], slope=theta[3], offset=-theta[4])
    winner = vote.predict(pool).code
    first = np.array([np.flatnonzero((pool.answer == winner[q]) & (np.arange(rows) // 8 == q))[0] for q in range(25)])
    scores = pool.known_scores.copy()
    scores[first] = np.minimum(1.0, scores[first] + rng.random(25))
    assert np.array_equal(vote.predict(replace(pool, scores=scores)).code, winner)


def test_confidence_is_a_probability_that_holds() -> None:
    pool = labelled(sy.simulate(3000, 16, seed=8))
    vote = sy.CalibratedVote().fit(pool.take(np.arange(600)))
    held = pool.take(np.arange(600, 3000))
    verdicts = vote.predict(held.unlabelled())
    correct = verdicts.correct(held)
    for low in (0.3, 0.6, 0.9):
        near = (verdicts.confidence > low) & (verdicts.confidence <= low + 0.1)
        error = 4 * np.sqrt(0.25 / max(1, near.sum()))
        assert abs(correct[near].mean() - verdicts.confidence[near].mean()) < error + 0.02
    assert abs(correct.mean() - verdicts.confidence.mean()) < 0.04


def test_weights_add_up_to_what_decides(cal: Labelled, test: Labelled) -> None:
    vote = sy.CalibratedVote().fit(cal)
    weights = vote.weigh(test)
    answers = answer_features(test, vote._logits(test.known_scores))
    utility = answers.x @ vote.theta - vote.best_ * vote.prior_
    place = np.zeros(test.n_questions)
    for q, begin, size in zip(answers.question, answers.starts, answers.sizes, strict=True):
        place[q] = utility[begin : begin + size].max()
    verdicts = vote.predict(test)
    assert verdicts.total == pytest.approx(place, abs=1e-6)
    assert np.isfinite(weights).all()


def test_a_response_that_counts_against_its_answer_would_be_better_away() -> None:
    vote = sy.CalibratedVote.of(votes=0.1, slope=8.0, offset=0.0)
    with_it = sy.Pool.from_arrays(question=[0] * 4, answer=[0, 0, 1, 1], scores=[0.9, 0.05, 0.7, 0.7])
    without = sy.Pool.from_arrays(question=[0] * 4, answer=[0, -1, 1, 1], scores=[0.9, 0.05, 0.7, 0.7])
    assert (vote.predict(with_it).code.tolist(), vote.predict(without).code.tolist()) == ([1], [0])
    assert vote._harmful_response_share(with_it) == 0.25
    copies = sy.Pool.from_arrays(question=[0] * 4, answer=[0, 0, 0, 1], scores=[0.05, 0.05, 0.05, 0.7])
    assert vote._harmful_response_share(copies) == 0.75  # each of them: two others as good remain
    assert vote.weight(0.05) < 0 < vote.weight(0.9)


def test_explain_says_what_was_fitted_and_what_to_expect() -> None:
    pool = sy.paper.load_grid("smol-misled", "prm_soft").take(np.arange(200))
    vote = sy.CalibratedVote().fit(pool)
    assert vote.explain().startswith("Fitted on 200 questions at N = 64: ")
    told = vote.assess(pool).explain()
    assert "against majority and" in told
    assert "against vanilla (± standard error)" in told
    assert "more" in told.split("(± standard error)")[1]
    assert f"± {100 * vote.gains_['majority_se']:.1f} points against majority" in told
    enough = int(vote.gains_["enough"])
    assert enough in (1, 2, 4, 8, 16, 32)
    assert f"with {enough} samples per question it does as well as the better of the two with 64" in told


def test_the_samples_that_are_enough_are_measured_on_questions_held_out() -> None:
    pool = labelled(sy.simulate(200, 16, seed=2))
    enough = int(sy.CalibratedVote().fit(pool).assess(pool).gains_["enough"])
    rivals = (sy.MajorityVote(), sy.VanillaVote())
    target = max(rival.predict(pool).correct(pool).mean() for rival in rivals)
    found = {n: out_of_fold(sy.CalibratedVote(), pool.first(n), 5) for n in (1, 2, 4, 8)}
    reached = [n for n, correct in found.items() if correct is not None and correct.mean() >= target]
    assert enough == (reached[0] if reached else 16)


def test_a_constant_score_is_said_to_be_of_no_help(cal: Labelled) -> None:
    vote = sy.CalibratedVote().fit(replace(cal, scores=np.full(cal.n_responses, 0.5)))
    assert "these scores do not help" in vote.explain()


def test_reserving_nearly_all_questions_is_refused(cal: Labelled) -> None:
    with pytest.raises(
        sy.errors.CalibrationError, match=r"reserve=0.9 leaves 1 of 12 questions to fit on: reserve less"
    ):
        sy.CalibratedVote(reserve=0.9).fit(cal.take(np.arange(12)))


def test_a_plan_with_damaged_values_is_refused(cal: Labelled, tmp_path: Path) -> None:
    sy.CalibratedVote().fit(cal).save(tmp_path / "plan.json")
    good = json.loads((tmp_path / "plan.json").read_text())
    for key, value in (
        ("correctness_", [1.0, 2.0]),
        ("penalty_", 3.0),
        ("votes_", "inf"),
        ("out_of_fold_confidence_", [0.5]),
    ):
        bad = {**good, "learned": {**good["learned"], key: value}}
        (tmp_path / "bad.json").write_text(json.dumps(bad))
        with pytest.raises(sy.PlanError, match="damaged"):
            sy.load(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"folds": 1}, "folds must be 2"),
        ({"se_tolerance": -1.0}, "se_tolerance must be 0"),
        ({"reserve": 1.0}, "reserve must lie"),
    ],
)
def test_settings_that_cannot_work(setting: dict[str, Any], words: str, cal: Labelled) -> None:
    with pytest.raises(sy.SettingError, match=words):
        sy.CalibratedVote(**setting).fit(cal)


def test_platt_is_the_maximum_of_its_penalised_likelihood(cal: Labelled) -> None:
    vote = sy.paper.PlattVote().fit(cal)
    known = cal.readable
    x = (clipped_logit(cal.known_scores[known]) - vote.centre_) / vote.scale_
    y = cal.correct[known]

    def loss(slope: float) -> float:
        p = expit(vote.intercept_ + slope * x)
        return float(-np.log(np.where(y, p, 1 - p)).sum() + slope**2 / 2)

    assert vote.slope_ == pytest.approx(minimize_scalar(loss).x, abs=1e-4)
    assert vote.threshold_ >= 0


def test_the_isotonic_curve_rises_and_reads_missing_scores_as_the_prior(cal: Labelled) -> None:
    vote = sy.paper.PlattVote(curve="isotonic").fit(cal)
    curve = vote.probability(np.linspace(0, 1, 50))
    assert (np.diff(curve) >= 0).all()
    assert vote.probability(np.array([np.nan]))[0] == vote.prior_
    with pytest.raises(sy.SettingError, match="unknown curve 'cubic'"):
        sy.paper.PlattVote(curve="cubic").fit(cal)


def test_the_share_counts_only_beside_the_sum(cal: Labelled) -> None:
    turned = replace(cal, scores=1 - cal.known_scores)
    theta = dict(zip(FEATURES, fit_conditional_logit(answers_of(turned), 1.0), strict=True))
    assert theta["sum"] == 0
    assert theta["share"] == 0


@pytest.mark.parametrize("clip", [1e-15, 0.4])
def test_scores_near_0_are_finite_evidence(clip: float, cal: Labelled) -> None:
    lower = replace(cal, scores=cal.known_scores**40)
    vote = sy.CalibratedVote(clip=clip).fit(lower)
    assert np.isfinite(vote.theta).all()
    assert np.isfinite(vote.weigh(lower)).all()


def test_a_plan_of_two_samples_counts_votes_when_there_are_more() -> None:
    cal, test = sy.paper.load_grid("smol-misled", "probe").split(0.4, seed=0)
    correct = sy.CalibratedVote().fit(cal, n=2).predict(test.unlabelled()).correct(test)
    plain = sy.MajorityVote().predict(test.unlabelled()).correct(test)
    assert correct.mean() > plain.mean() - 0.05


def test_the_rarer_answer_is_never_taken_for_being_rare() -> None:
    answer = np.tile([1, 1, 1, 0], 100)
    pool = sy.Pool.from_arrays(
        question=np.repeat(np.arange(100), 4), answer=answer, scores=np.full(400, 0.5), correct=answer == 0
    )
    vote = sy.CalibratedVote().fit(pool)
    assert vote.theta.tolist() == MAJORITY.tolist()
    assert "the plan votes by majority" in vote.explain()


def test_reserved_questions_teach_the_mix_nothing() -> None:
    rng = np.random.default_rng(0)
    table = (
        sy.simulate(60, 4, seed=0).drop("score").with_columns(pl.Series(f"noise{i}", rng.random(240)) for i in range(5))
    )
    pool = need_labels(sy.read(table, score="+".join(f"noise{i}" for i in range(5))))
    order = np.random.default_rng(0).permutation(60)[pool.rank]
    apart = order < 30
    vote, seen = sy.CalibratedVote(reserve=0.5).fit(pool), sy.CalibratedVote().fit(pool.take(~apart))
    assert vote.mix_ is not None
    assert seen.mix_ is not None
    assert np.array_equal(vote.mix_.coefficient, seen.mix_.coefficient)
    assert np.array_equal(vote.theta, seen.theta)


def test_questions_left_without_a_score_by_the_reserve_are_refused(cal: Labelled) -> None:
    some = cal.take(np.arange(40))
    order = np.random.default_rng(0).permutation(40)[some.rank]
    scores = np.where(some.spread(order < 20), some.known_scores, np.nan)
    with pytest.raises(
        sy.errors.CalibrationError, match=r"reserve less, or label more, so that \d+ with scores are left"
    ):
        sy.CalibratedVote(reserve=0.5).fit(replace(some, scores=scores))


def test_scores_on_one_question_alone_are_assessed_or_left_so(cal: Labelled) -> None:
    lone = replace(cal, scores=np.where(cal.spread(np.arange(cal.n_questions)) == 0, cal.known_scores, np.nan))
    vote = sy.CalibratedVote().fit(lone)
    assert vote.assess(lone).gains_ == {}


@pytest.mark.long
def test_random_scores_leave_the_majority_vote_in_95_of_100_files() -> None:
    rng = np.random.default_rng(0)
    by_majority = 0
    for file in range(100):
        pool = labelled(sy.simulate(50, 16, seed=1000 + file))
        vote = sy.CalibratedVote().fit(replace(pool, scores=rng.random(pool.n_responses)))
        by_majority += vote.votes_by_majority
    assert by_majority >= 95


def test_a_useful_verifier_passes_the_guard_with_50_labels() -> None:
    cal, test = sy.paper.load_grid("smol-misled", "prm_soft").first(16).split(0.05, seed=0)
    vote = sy.CalibratedVote().fit(cal)
    assert not vote.votes_by_majority
    assert vote.changed_ == (vote.predict(cal).code != sy.MajorityVote().predict(cal).code).sum()
    gain = sy.evaluation.paired_difference(vote.predict(test), sy.MajorityVote().predict(test), test)
    assert float(gain) > 0.1


@pytest.mark.parametrize("correct", [True, False])
def test_labels_that_are_all_alike_leave_the_majority_vote(correct: bool) -> None:
    pool = labelled(sy.simulate(30, 8, seed=1))
    alike = pool.unlabelled().labelled(np.full(pool.n_responses, correct) & pool.readable)
    with pytest.warns(sy.SteelyardWarning, match="there is nothing to learn beyond majority vote"):
        vote = sy.CalibratedVote().fit(alike)
    assert np.array_equal(vote.predict(pool).code, sy.MajorityVote().predict(pool).code)
