"""Kinds `date` and `yes-no`: spellings of one answer, golds of other types, and ambiguous dates."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

import steelyard as sy
from steelyard.answers.extract import kind_of

SPELLINGS = [
    "2020-03-14", "March 14, 2020", "March 14th, 2020", "14 March 2020", "the 14th of March, 2020", "Mar. 14, 2020",
    "Saturday, March 14, 2020", "Sat, 14 Mar 2020", "03/14/2020", "3/14/20", "14.3.2020", "14/03/2020", "2020/3/14",
    "2020-03-14T12:00:00Z",
]  # fmt: skip


def read(kind: str, golds: list[object], responses: list[str]) -> sy.LabelledPool:
    rows = pl.DataFrame({"question": range(len(golds)), "gold": golds, "response": responses}, strict=False)
    return sy.read_labelled(rows, score="none", answers=kind)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_one_day_is_one_answer_in_every_spelling(spelling: str) -> None:
    form = kind_of("date").form
    assert form(spelling) == "2020-03-14" == form(form(spelling))
    pool = read("date", [spelling, spelling], ["It was on 14 March 2020.", "The answer is March 15, 2020."])
    assert pool.correct.tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "form"), [("March 2020", "2020-03"), ("1921", "1921"), ("May 5", "--05-05"), ("?", "")]
)
def test_a_part_of_a_date_is_an_answer_of_its_own(text: str, form: str) -> None:
    assert kind_of("date").form(text) == form == kind_of("date").form(form)


def test_day_and_month_that_could_be_exchanged_are_read_month_first_and_counted() -> None:
    with pytest.warns(sy.errors.SteelyardNote, match="2 dates such as 03/04/2020 are read with the month first"):
        pool = read("date", ["2020-03-04", "2020-04-03"], ["The answer is 03/04/2020", "The answer is 03-04-2020"])
    assert pool.correct.tolist() == [True, False]
    with warnings.catch_warnings():
        warnings.simplefilter("error", sy.SteelyardWarning)
        read("date", ["2020-03-25"], ["The answer is 25/03/2020"])


@pytest.mark.parametrize(
    "golds", [["yes", "no"], ["Yes.", "No."], [True, False], ["true", "False"], [1, 0], ["Y", "N"]]
)
def test_golds_of_yes_and_no_may_be_words_booleans_or_figures(golds: list[object]) -> None:
    pool = read("yes-no", golds, ["Yes, there are 5 of them.", "There is no evidence. So the answer is no."])
    assert pool.correct.tolist() == [True, True]
    pool = read("yes-no", golds, ["False", "**True**, because 3 > 2"])
    assert pool.correct.tolist() == [False, False]


def test_yes_true_and_the_number_beside_them_vote_together() -> None:
    responses = ["Yes, there are 5 of them.", "True", "The answer is yes.", "No, there are 5."]
    pool = sy.read(pl.DataFrame({"question": ["a"] * 4, "response": responses}), score="none", answers="yes-no")
    verdict = sy.MajorityVote().predict(pool).to_polars()
    assert verdict.select("answer", "votes").rows() == [("yes", 3)]
