"""Scores such as length: whether more is better is learned from labels, by every method that learns."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.voting.fitting.direction import learn_direction
from steelyard.voting.methods import method_class, method_names
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.pools.relative_scores import relative_scores

LEARNING = [name for name in method_names() if method_class(name).learns and method_class(name).scored]


def pool(slope: float, seed: int = 0, questions: int = 120, parts: bool = False) -> LabelledPool:
    """Six responses per question, 45 % correct; a correct one has log-lengths that are larger by `slope`."""
    rng = np.random.default_rng(seed)
    correct = rng.random((questions, 6)) < 0.45
    answer = np.where(correct, 0, 1 + rng.integers(0, 2, correct.shape))
    question = np.repeat(np.arange(questions), 6)
    x = rng.normal(size=correct.shape) + slope * correct
    found = sy.Pool.from_arrays(question=question, answer=answer.ravel(), correct=correct.ravel())
    assert isinstance(found, LabelledPool)
    scores = relative_scores(x.ravel(), question)
    name = ("length(x)",)
    if parts:
        both = found.with_parts({"length(x)": scores, "prm": rng.random(len(scores))})
        return replace(both, origin=replace(both.origin, relative=name, undirected=name))
    origin = replace(found.origin, score="length(x)", relative=name, undirected=name)
    return replace(found, scores=scores, origin=origin)


@pytest.fixture(autouse=True)
def _quiet() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.errors.SteelyardWarning)
        yield


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize("slope", [-1.5, 1.5])
def test_a_method_that_learns_gains_whichever_direction_helps(name: str, slope: float) -> None:
    test = pool(slope, seed=1)
    majority = sy.MajorityVote().predict(test.unlabelled()).correct(test).mean()
    vote = method_class(name)().fit(pool(slope))
    seen = test if vote.oracle else test.unlabelled()
    assert vote.predict(seen).correct(test).mean() > majority + 0.03
    assert vote.fitted_on_ is not None
    assert vote.fitted_on_.score == ("length(x)" if slope > 0 else "1-length(x)")


def test_without_a_signal_the_default_votes_by_majority() -> None:
    plans = [sy.CalibratedVote().fit(pool(0.0, seed, questions=50)) for seed in range(10)]
    assert sum(plan.votes_by_majority for plan in plans) >= 9


def test_folds_that_disagree_are_read_in_different_directions() -> None:
    directed, seen = learn_direction(pool(0.0, seed=3, questions=20))
    same = np.isclose(directed.known_scores, seen.known_scores)
    opposite = np.isclose(directed.known_scores, 1 - seen.known_scores)
    assert (same | opposite).all()
    clear, learned = learn_direction(pool(-2.0))
    assert (clear.known_scores == learned.known_scores).all()


def test_a_plan_keeps_the_direction_and_reads_the_score_either_way(tmp_path: Path) -> None:
    vote = sy.CalibratedVote().fit(pool(-1.5))
    vote.save(tmp_path / "plan.json")
    loaded, test = sy.load(tmp_path / "plan.json"), pool(-1.5, seed=2).unlabelled()
    origin = replace(test.origin, score="1-length(x)", undirected=())
    flipped = replace(test, scores=1 - test.known_scores, origin=origin)
    assert (loaded.predict(test).answer == vote.predict(flipped).answer).all()
    other = replace(test, origin=replace(test.origin, score="length(y)", undirected=("length(y)",)))
    with pytest.raises(sy.errors.PlanError, match=r"fitted on the score '1-length\(x\)'"):
        loaded.predict(other)


def test_a_direction_that_the_user_names_is_not_changed() -> None:
    found = pool(-1.5)
    named = replace(found, origin=replace(found.origin, undirected=()))
    vote = method_class("platt")().fit(named)
    assert vote.fitted_on_ is not None
    assert vote.fitted_on_.score == "length(x)"


def test_in_a_mix_the_length_has_its_own_direction(tmp_path: Path) -> None:
    vote = sy.CalibratedVote().fit(pool(-1.5, parts=True))
    assert vote.fitted_on_ is not None
    assert vote.fitted_on_.score == "1-length(x)+prm"
    assert vote.mix_ is not None
    assert vote.mix_.shares[0] > 0.8
    vote.save(tmp_path / "plan.json")
    test = pool(-1.5, seed=2, parts=True)
    correct = sy.load(tmp_path / "plan.json").predict(test.unlabelled()).correct(test).mean()
    assert correct > sy.MajorityVote().predict(test.unlabelled()).correct(test).mean() + 0.03


def test_a_method_that_learns_nothing_warns_with_the_fix() -> None:
    with pytest.warns(sy.errors.SteelyardWarning, match=r"depends on the LLM: .* use score='1-length\(x\)'"):
        method_class("vanilla")().fit(pool(1.0))
