"""How likely a verdict is right: the two factors, their prior, what few or odd labels do to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import steelyard as sy
from steelyard.voting.confidence.correctness_model import (
    NUMBERS,
    PRIOR,
    WEIGHT,
    CorrectnessBySamples,
    factors,
    most_likely,
    octaves,
    winners_correct,
)
from steelyard.voting.fitting.conditional_logit import answer_features, choice_probabilities
from tests.building import Labelled, labelled


def drawn(seed: int, questions: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    return rng.normal(1, 3, questions), rng.normal(size=(questions, 2)), rng.random(questions) < 0.6


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 200))
def test_what_is_learned_is_most_likely_under_the_prior(seed: int, questions: int) -> None:
    odds, f, correct = drawn(seed, questions)

    def loss(theta: np.ndarray[Any, Any]) -> float:
        this, among = factors(theta, odds, f)
        p = np.clip(this * among, 1e-12, 1 - 1e-12)
        return float(-np.log(np.where(correct, p, 1 - p)).sum() + (WEIGHT * (theta - PRIOR) ** 2).sum() / 2)

    found = most_likely(odds, f, correct)
    assert loss(found) <= minimize(loss, PRIOR).fun + 1e-6


def test_known_factors_are_found_again() -> None:
    rng = np.random.default_rng(0)
    odds, f = rng.normal(1, 3, 200_000), rng.normal(size=(200_000, 2))
    truth = np.array([-0.3, 0.4, 0.5, 1.5, -0.7])
    this, among = factors(truth, odds, f)
    assert most_likely(odds, f, rng.random(200_000) < this * among) == pytest.approx(truth, abs=0.05)


@pytest.mark.parametrize("correct", [True, False])
def test_verdicts_that_are_all_right_or_all_wrong_leave_it_finite(correct: bool) -> None:
    odds, f, _ = drawn(3, 100)
    odds = np.abs(odds)
    found = most_likely(odds, f, np.full(100, correct))
    this, among = factors(found, odds, f)
    assert np.isfinite(found).all()
    assert (this * among)[odds > 3].mean() > 0.9 if correct else (this * among).mean() < 0.1


@pytest.mark.parametrize("spread", [0.0, 0.01])
def test_scores_far_from_those_seen_are_as_the_farthest_of_them(spread: float) -> None:
    rng = np.random.default_rng(0)
    pool = sy.Pool.from_arrays(
        question=np.repeat(np.arange(40), 4),
        answer=np.tile([0, 0, 1, 2], 40),
        scores=0.5 + spread * rng.uniform(-1, 1, 160),
        correct=np.tile([1, 1, 0, 0], 40),
    )
    vote = sy.CalibratedVote().fit(pool)
    other = [sy.Pool.from_arrays(question=[0] * 4, answer=[0, 0, 1, 2], scores=[score] * 4) for score in (0.4, 0.1)]
    near, far = (vote.predict(each).confidence[0] for each in other)
    assert near == pytest.approx(far, abs=0.2)
    assert far > 0.05


def test_the_answer_that_is_judged_is_the_verdict_also_on_ties() -> None:
    pool = labelled(sy.simulate(1200, 16, seed=6))
    pool = replace(pool, scores=1 - pool.known_scores)  # nothing to believe: ties are many
    vote = sy.CalibratedVote().fit(pool.take(np.arange(400)))
    for n in (2, 4, 16):
        test = pool.take(np.arange(400, 1200)).first(n)
        answers = answer_features(test, vote._logits(test.known_scores))
        judged = winners_correct(answers, choice_probabilities(answers, vote.theta), test.n_questions)
        verdicts = vote.predict(test.unlabelled())
        assert np.array_equal(judged, verdicts.correct(test))
        assert verdicts.confidence.mean() == pytest.approx(judged.mean(), abs=0.06)


def test_questions_with_few_samples_do_not_speak_for_those_with_many() -> None:
    pool = sy.paper.load_grid("smol-misled", "probe")
    cal, test = pool.split(0.4, seed=0)
    question = cal.spread(np.arange(400))
    keep = (np.arange(cal.n_responses) - cal.spread(cal.starts[:-1]) < 4) | (question >= 320)
    ragged = sy.Pool.from_arrays(
        question=question[keep], answer=cal.answer[keep], scores=cal.known_scores[keep], correct=cal.correct[keep]
    )
    verdicts = sy.CalibratedVote().fit(ragged).predict(test.unlabelled())
    assert verdicts.confidence.mean() == pytest.approx(verdicts.correct(test).mean(), abs=0.08)


def test_a_question_without_an_answer_is_not_believed(cal: Labelled) -> None:
    mute = sy.Pool.from_arrays(question=[0, 0, 1], answer=[-1, -1, 3], scores=[0.9, 0.9, 0.9])
    confidence = sy.CalibratedVote().fit(cal).predict(mute).confidence
    assert confidence[0] == 0 < confidence[1] < 1


def test_a_lone_sample_is_not_believed_more_than_it_is_right(cal: Labelled, test: Labelled) -> None:
    vote = sy.CalibratedVote().fit(cal)
    lone = test.first(1)
    verdicts = vote.predict(lone.unlabelled())
    assert verdicts.confidence.mean() == pytest.approx(verdicts.correct(lone).mean(), abs=0.1)


def test_between_two_judges_the_confidence_lies_between_theirs() -> None:
    pool = labelled(sy.simulate(60, 32, seed=1))
    vote = sy.CalibratedVote().fit(pool)
    jury = CorrectnessBySamples.of(vote.correctness_)
    assert [judge.samples for judge in jury.models] == octaves(32)
    answers = answer_features(pool, vote._logits(pool.known_scores))
    chance = choice_probabilities(answers, vote.theta)
    alone = np.stack(
        [CorrectnessBySamples((judge,)).predict_p_correct(answers, chance, pool.sizes) for judge in jury.models]
    )
    for n in range(1, 41):
        here = jury.predict_p_correct(answers, chance, np.full(pool.n_questions, n))
        below = max(i for i, judge in enumerate(jury.models) if judge.samples <= n)
        pair = alone[below : below + 2]
        assert (here >= pair.min(axis=0) - 1e-12).all()
        assert (here <= pair.max(axis=0) + 1e-12).all()


def test_first_samples_that_nobody_could_read_teach_nothing(cal: Labelled) -> None:
    answer = cal.answer.copy()
    answer[cal.starts[:-1]] = -1
    vote = sy.CalibratedVote().fit(replace(cal, answer=answer))
    assert [judge.samples for judge in CorrectnessBySamples.of(vote.correctness_).models][:2] == [2, 4]


def test_a_jury_of_one_where_no_number_of_samples_has_enough_questions() -> None:
    question = np.repeat(np.arange(12), np.arange(8, 20))
    last = np.append(question[1:] != question[:-1], True)
    pool = sy.Pool.from_arrays(
        question=question,
        answer=np.where(last, question % 2, -1),
        scores=np.linspace(0.1, 0.9, len(question)),
        correct=last & (question % 2 == 0),
    )
    vote = sy.CalibratedVote().fit(pool)
    assert [judge.samples for judge in CorrectnessBySamples.of(vote.correctness_).models] == [19]


def test_a_damaged_confidence_is_refused(cal: Labelled) -> None:
    good = sy.CalibratedVote().fit(cal).correctness_
    assert good is not None
    swapped = good.copy()
    swapped[[0, NUMBERS]] = swapped[[NUMBERS, 0]]
    for bad in (None, good[:-1], good[:0], good + 0.5, np.where(good == good[3], -1.0, good), good * np.nan, swapped):
        with pytest.raises(sy.PlanError, match="its confidence is damaged"):
            CorrectnessBySamples.of(bad)
