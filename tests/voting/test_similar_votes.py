"""A vote among similar answers: U(y) = sum_i w_i K(y, y_i), and today's vote where K is equality."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import steelyard as sy
from steelyard.foundation.errors import SettingError
from steelyard.voting.methods import method_class, method_names
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.similarity import ALIKE, Similarity
from steelyard.voting.stopping.stopping_rule import prefix_of
from steelyard.voting.tally import smoothed, tally

METHODS = [name for name in method_names() if method_class(name).votes_on_similar]
FIELDS = ("code", "total", "margin", "positive", "votes", "cast", "share", "weight_share", "confidence")


def random_pool(seed: int, questions: int = 30, n: int = 6, kinds: int = 5) -> LabelledPool:
    """Scores in steps of 0.1, so that there are ties; one answer in six is unreadable."""
    rng = np.random.default_rng(seed)
    answer = rng.integers(-1, kinds, questions * n)
    pool = Pool.from_arrays(
        question=np.repeat(np.arange(questions), n),
        answer=answer,
        scores=rng.integers(1, 10, questions * n) / 10,
        correct=answer == 0,
        source=[f"llm {i % 3}" for i in range(questions * n)],
    )
    assert isinstance(pool, LabelledPool)
    return pool


def with_random_similarity(pool: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    blocks = []
    for size in pool.width.tolist():
        half = np.triu(rng.integers(0, 9, (size, size)) / 8, 1)
        blocks.append((half + half.T + np.eye(size)).astype(np.float32).ravel())
    begin = np.cumsum(pool.width**2) - pool.width**2
    return replace(pool, similarity=Similarity(np.concatenate(blocks), begin))


def quietly(function: Any, *arguments: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_where_similarity_is_equality_the_verdicts_are_those_of_the_vote_on_equal_answers(name: str, seed: int) -> None:
    pool = random_pool(seed)
    equal = replace(pool, similarity=Similarity.of_equal_answers(pool.width))
    if name in ("committee", "consensus"):  # their weights are learned otherwise; with the same weights they vote alike
        plain = quietly(method_class(name)().fit, pool)
        other = plain
    else:
        plain, other = (quietly(method_class(name)().fit, part) for part in (pool, equal))
    for bare, alike in ((pool, equal), (pool.first(3), equal.first(3)), (pool.take([4, 2]), equal.take([4, 2]))):
        one, two = quietly(plain.predict, bare), quietly(other.predict, alike)
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(one, field), getattr(two, field), err_msg=f"{name}: {field}")


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_winner_has_the_largest_sum_of_weights_times_similarity(seed: int) -> None:
    pool = with_random_similarity(random_pool(seed, questions=5), seed)
    weights = np.random.default_rng(seed).integers(-8, 9, pool.n_responses) / 8
    verdicts = tally(pool, weights)
    for q in range(pool.n_questions):
        rows = range(int(pool.starts[q]), int(pool.starts[q + 1]))
        block = pool.similarity.block(q, int(pool.width[q])).astype(float)
        given_answers = {int(pool.answer[i]) for i in rows if pool.answer[i] >= 0}
        if not given_answers:
            assert verdicts.code[q] == -1
            continue
        u = {k: sum(weights[i] * block[k, pool.answer[i]] for i in rows if pool.answer[i] >= 0) for k in given_answers}
        winner = int(verdicts.code[q])
        assert u[winner] == pytest.approx(max(u.values())) == pytest.approx(verdicts.total[q])
        support = sum(block[winner, pool.answer[i]] for i in rows if pool.answer[i] >= 0)
        assert verdicts.share[q] == pytest.approx(support / verdicts.cast[q])
        others = [u[k] for k in given_answers if block[winner, k] < ALIKE]
        assert verdicts.margin[q] == pytest.approx(u[winner] - max(others) if others else abs(u[winner]))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_order_of_the_responses_changes_no_total(seed: int) -> None:
    pool = with_random_similarity(random_pool(seed, questions=4).unlabelled(), seed)
    weights = np.random.default_rng(seed).normal(size=pool.n_responses)
    order = np.concatenate([np.random.default_rng(seed + q).permutation(6) + 6 * q for q in range(4)])
    moved = replace(pool, answer=pool.answer[order], scores=pool.scores[order], source=pool.source[order])
    one, two = tally(pool, weights), tally(moved, weights[order])
    np.testing.assert_array_equal(one.total, two.total)
    np.testing.assert_array_equal(one.support, two.support)


def alike_pairs() -> Pool:
    """Three answers of three responses: the first two are alike, the third stands alone with two votes."""
    pool = Pool.from_arrays(question=[0] * 4, answer=[0, 1, 2, 2], scores=[0.5, 0.6, 0.4, 0.4])
    block = np.array([[1, 0.75, 0], [0.75, 1, 0], [0, 0, 1]], np.float32)
    return replace(pool, similarity=Similarity(block.ravel(), np.array([0])))


def test_two_like_answers_count_for_each_other_and_ties_go_to_the_higher_score() -> None:
    verdicts = sy.MajorityVote().predict(alike_pairs().first(3))
    assert verdicts.answer.tolist() == [1]  # 1.75 each; the second has the higher score
    assert verdicts.votes.tolist() == [2]
    assert verdicts.share.tolist() == pytest.approx([1.75 / 3])
    assert verdicts.margin.tolist() == [0.75]  # over the third answer, not over the one that is alike
    assert sy.MajorityVote().predict(alike_pairs()).answer.tolist() == [2]


def test_best_of_n_is_the_response_with_the_best_score() -> None:
    assert sy.BestOfN().predict(alike_pairs()).answer.tolist() == [1]


def test_the_rival_of_a_stopping_rule_is_an_answer_that_is_not_alike() -> None:
    pool = alike_pairs()
    prefix = prefix_of(sy.MajorityVote().predict(pool))
    assert prefix.votes[0, -1] == 2
    assert prefix.rival[0, -1] == 2
    first = prefix_of(sy.MajorityVote().predict(pool.first(2)))
    assert (first.votes[0, -1], first.rival[0, -1]) == (2, 0)


def test_values_are_smoothed_by_similarity() -> None:
    assert smoothed(alike_pairs(), [1.0, 2.0, 4.0]).tolist() == [2.5, 2.75, 4.0]


@pytest.mark.parametrize("name", [name for name in method_names() if name not in METHODS])
def test_a_method_for_equal_answers_refuses_free_text_in_one_line(name: str) -> None:
    pool = with_random_similarity(random_pool(0), 0)
    with pytest.raises(SettingError, match="votes only on equal answers"):
        quietly(method_class(name)().fit, pool)


def sources_that_know(accuracies: dict[str, float], questions: int, seed: int = 0, *, errors: int = 4) -> LabelledPool:
    """Sources that give the correct answer with some probability, else one of a few errors.

    Answers that mean the same have a similarity of 0.6, others of 0.1.
    """
    rng = np.random.default_rng(seed)
    names = list(accuracies)
    correct = rng.random((questions, len(names))) < np.array([accuracies[name] for name in names])
    said = np.where(correct, 0, rng.integers(1, 1 + errors, correct.shape))
    blocks: list[NDArray[np.float32]] = []
    for row in said:
        block = np.where(row[:, None] == row, 0.6, 0.1).astype(np.float32)
        np.fill_diagonal(block, 1.0)
        blocks.append(block.ravel())
    size = len(names)
    pool = Pool.from_arrays(
        question=np.repeat(np.arange(questions), size),
        answer=np.tile(np.arange(size), questions),
        source=np.tile(names, questions),
        correct=correct.ravel(),
    )
    similarity = Similarity(np.concatenate(blocks), np.arange(questions) * size**2)
    labelled = replace(pool, similarity=similarity)
    assert isinstance(labelled, LabelledPool)
    return labelled


WEAK = {f"weak {i}": 0.15 for i in range(12)}


@pytest.mark.parametrize("method", [sy.CommitteeVote, sy.ConsensusVote])
def test_weak_sources_are_left_out_and_good_ones_weigh_most(method: type[sy.Method]) -> None:
    pool = sources_that_know({"best": 0.8, "good": 0.7, "fair": 0.65, **WEAK}, 150)
    cal, test = pool.split(0.5, seed=0)
    vote = method().fit(cal)
    weights = vote.summary()["sources"]
    assert next(iter(weights)) == "best"
    assert max(weights[name] for name in WEAK) < 0.3 * weights["best"]
    verdicts = vote.predict(test)
    plain = sy.MajorityVote().predict(test)
    assert verdicts.correct(test).mean() > plain.correct(test).mean() + 0.02


def test_weak_sources_with_errors_of_their_own_are_not_left_out() -> None:
    pool = sources_that_know({"best": 0.8, "good": 0.7, "fair": 0.65, **WEAK}, 400, errors=60)
    cal, test = pool.split(0.25, seed=0)
    committee, plain = sy.CommitteeVote().fit(cal), sy.MajorityVote()
    assert committee.predict(test).correct(test).mean() > plain.predict(test).correct(test).mean() - 0.01


def test_a_committee_on_similar_answers_learns_a_confidence_and_survives_its_plan(tmp_path: Any) -> None:
    pool = sources_that_know({"best": 0.8, "good": 0.7, "fair": 0.65, **WEAK}, 200)
    cal, test = pool.split(0.5, seed=1)
    vote = sy.CommitteeVote().fit(cal)
    verdicts = vote.predict(test)
    correct = verdicts.correct(test)
    assert verdicts.confidence[correct].mean() > verdicts.confidence[~correct].mean() + 0.1
    assert abs(verdicts.confidence.mean() - correct.mean()) < 0.1
    vote.save(tmp_path / "plan.json")
    again = sy.load(tmp_path / "plan.json").predict(test)
    np.testing.assert_array_equal(again.code, verdicts.code)
    np.testing.assert_array_equal(again.confidence, verdicts.confidence)


def test_labels_that_show_nothing_leave_every_source_one_vote() -> None:
    pool = sources_that_know({"a": 0.5, "b": 0.5, "c": 0.5}, 40)
    rng = np.random.default_rng(3)
    shuffled = replace(pool, answer_correct=rng.permutation(pool.answer_correct))
    weights = set(sy.CommitteeVote().fit(shuffled).summary()["sources"].values())
    assert len(weights) <= 3
    assert max(weights) - min(weights) < 3


def test_calibrated_learns_what_the_scores_of_similar_answers_are_worth() -> None:
    rng = np.random.default_rng(0)
    pool = sources_that_know(dict.fromkeys("abcdef", 0.35), 200)
    scores = np.clip(np.where(pool.correct, 0.75, 0.35) + rng.normal(0, 0.15, pool.n_responses), 0.01, 0.99)
    scored = replace(pool, scores=scores, source=None, sources=())
    cal, test = scored.split(0.5, seed=0)
    plan = sy.CalibratedVote().fit(cal)
    gain = plan.predict(test).correct(test).mean() - sy.MajorityVote().predict(test).correct(test).mean()
    assert gain > 0.05
    assert abs(plan.predict(test).confidence.mean() - plan.predict(test).correct(test).mean()) < 0.1


def test_answers_that_are_tied_by_similarity_are_decided_by_their_own_votes() -> None:
    pool = Pool.from_arrays(question=[0] * 3, answer=[0, 1, 1])
    same = replace(pool, similarity=Similarity(np.ones(4, np.float32), np.array([0])))
    assert sy.MajorityVote().predict(same).answer.tolist() == [1]


@pytest.mark.parametrize("votes", [0.6, 0.7, 0.8, 0.9, 1.0, 1.1])
def test_the_calibrated_vote_breaks_ties_of_like_answers_by_the_rules_not_by_rounding(votes: float) -> None:
    pool = Pool.from_arrays(question=[0] * 4, answer=[0, 0, 0, 1], scores=[0.5] * 4)
    same = replace(pool, similarity=Similarity(np.ones(4, np.float32), np.array([0])))
    assert sy.CalibratedVote.of(votes=votes).predict(same).answer.tolist() == [0]


@pytest.mark.parametrize("name", METHODS)
def test_a_question_without_a_readable_answer_has_no_verdict(name: str) -> None:
    pool = with_random_similarity(random_pool(1), 1)
    vote = quietly(method_class(name)().fit, pool)
    silent = Pool.from_arrays(
        question=[0, 0], answer=[-1, -1], scores=[0.5, 0.5], correct=[False, False], source=["a", "b"]
    )
    silent = replace(silent, similarity=Similarity.of_equal_answers(silent.width))
    assert quietly(vote.predict, silent).code.tolist() == [-1]


def test_a_pool_without_questions_has_no_verdicts() -> None:
    assert len(sy.MajorityVote().predict(alike_pairs().take([]))) == 0


def test_a_source_that_answers_alone_is_not_thereby_reliable() -> None:
    pool = sources_that_know({"a": 0.9, "b": 0.85, "c": 0.8, "alone": 0.1}, 120, errors=30)
    declined = (pool.spread(np.arange(120)) % 4 != 0) & (pool.source != pool.sources.index("alone"))
    silent = replace(pool.unlabelled(), answer=np.where(declined, -1, pool.answer).astype(np.int32))
    weights = quietly(sy.ConsensusVote().fit, silent).summary()["sources"]
    assert min(weights, key=lambda name: weights[name]) == "alone"


def test_labelled_and_unlabelled_responses_of_different_kinds_are_refused() -> None:
    pool = sources_that_know({"a": 0.8, "b": 0.6, "c": 0.5}, 40)
    with pytest.raises(SettingError, match="only one of the labelled and unlabelled files is free text"):
        sy.CommitteeVote().fit(pool, unlabelled=replace(pool.unlabelled(), similarity=None))
