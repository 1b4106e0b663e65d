"""Grades of responses are labels: correct, incorrect, partly correct and not attempted."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from tests.tables.graded_answers import graded_answers

WORDS = {"C": "CORRECT", "I": "Incorrect", "P": "partially correct", "N": "NOT_ATTEMPTED"}


def table(**columns: Any) -> pl.DataFrame:
    """Four responses to each of two questions, of which the last is in the middle of the file."""
    answers = ["Oslo", "Rome", "Bern", "Lima"] * 2
    return pl.DataFrame({"question": ["a"] * 4 + ["b"] * 4, "answer": answers, **columns})


def attempted(pool: sy.LabelledPool) -> list[bool]:
    """Whether each response was attempted."""
    assert pool.answer_attempted is not None
    return list(pool.labelled_by_attempt().correct)


@pytest.mark.parametrize("words", [{}, WORDS, {letter: letter.lower() for letter in WORDS}], ids=["C", "words", "c"])
@pytest.mark.parametrize("name", ["grade", "Grade", "correct", "grade_gpt"])
def test_letters_and_words_are_grades(name: str, words: dict[str, str]) -> None:
    grades = [words.get(letter, letter) for letter in "CIPNCIPN"]
    with pytest.warns(sy.errors.SteelyardNote, match="2 responses are graded partly correct and count as not correct"):
        pool = sy.read_labelled(table(**{name: grades}), score="none", answers="text")
    assert pool.correct.tolist() == [True, False, False, False] * 2
    assert attempted(pool) == [True, True, True, False] * 2


def test_a_grade_beside_labels_says_what_was_attempted_and_the_labels_stay() -> None:
    pool = sy.read_labelled(table(correct=[True] * 8, grade=[*"CIPNCIPN"]), score="none", answers="text")
    assert pool.correct.all()
    assert pool.answer_attempted is not None
    assert attempted(pool) == [True] * 8  # correct is never "not attempted"


@pytest.mark.parametrize(
    "columns",
    [{"correct": [*"YNYNYNYN"]}, {"grade": [*"CICICICI"]}, {"correct": [True, False] * 4, "grade": [*"ABCNABCN"]}],
    ids=["yes and no", "all attempted", "grades of a school"],
)
def test_other_labels_say_nothing_about_attempts(columns: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*partly correct")
        pool = sy.read_labelled(table(**columns), score="none", answers="text")
    assert pool.answer_attempted is None
    assert not pool.reports_attempts


def test_several_graders_are_never_chosen_silently() -> None:
    graded = table(grade_a=[*"CIPNCIPN"], grade_b=[*"CCCCCCCC"])
    with pytest.warns(sy.errors.SteelyardNote, match="'grade_a' and 'grade_b' grade .*rename={'grade_a': 'correct'}"):
        assert not isinstance(sy.read(graded, score="none", answers="text"), sy.LabelledPool)
    assert sy.read_labelled(graded, score="none", answers="text", rename={"grade_b": "grade"}).correct.all()


def test_attempts_survive_every_way_to_take_part_of_a_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pl.DataFrame(graded_answers(12))
    pool = sy.read_labelled(rows, score="none", answers="free")
    expected = dict(zip(rows.rows(), attempted(pool), strict=True))

    def check(part: sy.LabelledPool) -> None:
        responses = [row for q in part.questions for row in rows.rows() if row[0] == q]
        limit = part.n
        first = [row for q in part.questions for row in [r for r in responses if r[0] == q][:limit]]
        assert attempted(part) == [expected[row] for row in first]

    for part in (*pool.split(0.5, seed=1), pool.take([3, 1, 0]), pool.first(2), pool.split(0.5, seed=1)[1].first(3)):
        check(part)
    monkeypatch.setattr("steelyard.tables.row_order.BATCH", 7)
    joined = sy.read_labelled(rows, score="none", answers="free")
    assert np.array_equal(joined.labelled_by_attempt().correct, pool.labelled_by_attempt().correct)
    assert "answer_attempted" not in vars(pool.unlabelled())
