"""Pools from arrays: what is taken as it is, what is sorted, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from tests.building import Labelled


def test_sorted_questions_and_small_codes_are_not_copied() -> None:
    question, answer, scores = np.array([3, 3, 9]), np.array([0, 1, 0], np.int32), np.array([0.1, 0.2, 0.3], np.float32)
    pool = sy.Pool.from_arrays(question=question, answer=answer, scores=scores)
    assert pool.answer is answer
    assert pool.scores is scores
    assert pool.questions.tolist() == [3, 9]


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.one_of(st.integers(-1, 3), st.integers(-1, 2**63 - 1))), min_size=1, max_size=30
    )
)
def test_any_codes_in_any_order_vote_as_they_would_by_hand(rows: list[tuple[int, int]]) -> None:
    pool = sy.Pool.from_arrays(question=[q for q, _ in rows], answer=[a for _, a in rows])
    verdicts = sy.evaluation.tally(pool, np.ones(len(rows)))
    for question, answer in zip(verdicts.question, verdicts.answer, strict=True):
        votes = [a for q, a in rows if q == question and a >= 0]
        assert answer == (max(dict.fromkeys(votes), key=votes.count) if votes else -1)


def test_text_ids_work_too() -> None:
    pool = sy.Pool.from_arrays(question=["b", "a", "b"], answer=[1, 1, 0])
    assert pool.questions.tolist() == ["b", "a"]
    assert sy.evaluation.tally(pool, [1, 2, 1]).to_polars().rows()[0][:2] == ("b", 0)  # the pool's order: b, b, a


def test_labels_reach_every_response_with_the_answer() -> None:
    pool = sy.Pool.from_arrays(question=[0, 0, 0, 1], answer=[2, 1, 2, -1], correct=[1, 0, 1, 1])
    assert isinstance(pool, Labelled)
    assert pool.correct.tolist() == [True, False, True, False]
    assert type(pool.unlabelled()) is sy.Pool


CONFLICT: dict[str, Any] = {"question": [7, 7], "correct": [True, False], "labels": "strict"}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"question": [], "answer": []}, "no responses"),
        ({"question": [1, 2], "answer": [1]}, "answer has shape"),
        ({"question": [[1]], "answer": [[1]]}, "question has shape"),
        ({"question": [1], "answer": ["x"]}, "numpy.unique"),
        ({"question": [1], "answer": [0.5]}, "numpy.unique"),
        ({"question": [1], "answer": [-2]}, "contains -2"),
        ({"question": [1], "answer": [0], "scores": [1.5]}, r"sigmoid\(scores\)"),
        ({"question": [1], "answer": [0], "scores": [float("inf")]}, "outside"),
        ({"question": [1], "answer": [0], "scores": ["high"]}, "not numbers"),
        ({"question": [1], "answer": [0], "correct": [2]}, "true and false"),
        ({"question": [1], "answer": [0], "correct": ["yes"]}, "true and false"),
        (CONFLICT | {"answer": [4, 4]}, "question '7': the answer '4'"),
        (CONFLICT | {"answer": [10**12] * 2}, "answer '1000000000000'"),
    ],
)
def test_what_cannot_be_a_pool_is_refused(arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(sy.SteelyardError, match=message):
        sy.Pool.from_arrays(**arrays)


def test_a_vote_that_needs_scores_says_what_to_do_without() -> None:
    pool = sy.Pool.from_arrays(question=[0], answer=[0])
    with pytest.raises(sy.errors.ScoreError, match="majority"):
        sy.VanillaVote().predict(pool)


def test_verdicts_do_not_take_the_labels_of_other_questions(test: Labelled) -> None:
    verdicts = sy.MajorityVote().predict(test)
    with pytest.raises(sy.errors.LabelError, match="other questions"):
        sy.accuracy(verdicts, test.take(np.arange(test.n_questions - 1)))


def test_accuracy_needs_labels(test: Labelled) -> None:
    with pytest.raises(sy.errors.LabelError, match="'correct'"):
        sy.accuracy(sy.MajorityVote().predict(test), test.unlabelled())  # type: ignore[arg-type]


def test_a_pool_without_a_single_readable_answer_has_only_null_verdicts() -> None:
    pool = sy.Pool.from_arrays(question=[0, 1], answer=[-1, -1], correct=[0, 0])
    assert isinstance(pool, Labelled)
    verdicts = sy.MajorityVote().predict(pool)
    assert verdicts.answer.tolist() == [-1, -1]
    assert float(sy.accuracy(verdicts, pool)) == 0.0
    assert repr(verdicts) == "Verdicts(2 questions, 2 without a readable answer)"


def test_unsigned_codes_beyond_the_signed_range_vote_too() -> None:
    pool = sy.Pool.from_arrays(question=[0, 0, 0, 1], answer=np.array([2**64 - 1, 3, 3, 2**63 + 5], np.uint64))
    assert sy.MajorityVote().predict(pool).answer.tolist() == [3, 2**63 + 5]


def test_questions_are_taken_from_the_end_and_by_a_mask(test: Labelled) -> None:
    last = test.take([-1])
    assert list(last.questions) == [test.questions[-1]]
    assert np.array_equal(last.known_scores, test.known_scores[test.starts[-2] :])
    mask = np.zeros(test.n_questions, bool)
    mask[[3, 8]] = True
    assert list(test.take(mask).questions) == [test.questions[3], test.questions[8]]
    assert test.take([]).n_questions == 0


def test_labels_of_other_questions_with_the_same_layout_are_refused() -> None:
    one = sy.Pool.from_arrays(question=[0, 0, 1, 1], answer=[0, 1, 0, 1], correct=[1, 0, 1, 0])
    two = sy.Pool.from_arrays(question=[7, 7, 8, 8], answer=[0, 1, 0, 1], correct=[0, 1, 0, 1])
    assert isinstance(two, Labelled)
    with pytest.raises(sy.errors.LabelError, match="other questions"):
        sy.MajorityVote().predict(one).correct(two)


def test_text_pools_without_a_readable_answer_have_none_as_answer() -> None:
    pool = sy.read({"question": ["a"], "answer": [None], "score": [0.5]})
    assert sy.MajorityVote().predict(pool).answer.tolist() == [None]
