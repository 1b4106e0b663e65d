"""`text`: a sentence stands for the name that another response, or the gold answer, has."""

from __future__ import annotations

import polars as pl
import pytest

import steelyard as sy
from steelyard.answers.extract import kind_of
from steelyard.answers.grouping import simple_keys
from steelyard.answers.names_in_sentences import name_in

SAME = [
    "It was Albert Einstein.", "Albert Einstein developed it in 1905.", "That would be Albert Einstein",
    "The physicist Albert Einstein is the one.", "It's Albert Einstein!",
    "The theory was published by Albert Einstein, in 1905.",
]  # fmt: skip
OTHER = [
    "It was not Albert Einstein.", "It was Albert Einstein and Niels Bohr.", "It was Albert Einstein Senior.",
    "It was either Albert Einstein or his wife.", "Was it Albert Einstein?", "It was Saint Albert Einstein.",
]  # fmt: skip


def read(responses: list[str], gold: str | None = None) -> sy.Pool:
    rows = pl.DataFrame({"question": ["a"] * len(responses), "response": responses})
    labelled = rows if gold is None else rows.with_columns(gold=pl.lit(gold))
    return sy.read(labelled, score="none", answers="text")


@pytest.mark.parametrize("sentence", SAME)
def test_a_sentence_votes_with_the_response_that_is_its_name(sentence: str) -> None:
    pool = read(["Albert Einstein", sentence, "Niels Bohr"])
    assert pool.answer.tolist() == [0, 0, 1]
    alone = read([sentence, "Niels Bohr"], gold="Albert Einstein")
    assert isinstance(alone, sy.LabelledPool)
    assert alone.correct.tolist() == [True, False]


@pytest.mark.parametrize("sentence", OTHER)
def test_a_sentence_that_says_something_else_is_an_answer_of_its_own(sentence: str) -> None:
    pool = read(["Albert Einstein", sentence])
    assert pool.answer.tolist() == [0, 1]
    labelled = read(["Albert Einstein", sentence], gold="Albert Einstein")
    assert isinstance(labelled, sy.LabelledPool)
    assert labelled.correct.tolist() == [True, False]


def test_two_names_in_one_sentence_are_neither_and_the_longer_of_two_that_overlap_counts() -> None:
    assert name_in("Einstein followed Newton there.", ["einstein", "newton"]) is None
    assert name_in("It was Albert Einstein.", ["einstein", "albert einstein"]) == "albert einstein"
    assert name_in("It is in New York City.", ["new york"]) is None


def test_the_classes_do_not_depend_on_the_gold_nor_on_the_order() -> None:
    responses = ["It was Albert Einstein.", "Albert Einstein did it.", "Niels Bohr"]
    assert read(responses).answer.tolist() == read(responses, gold="Albert Einstein").answer.tolist() == [0, 1, 2]
    backwards = read([*responses, "Albert Einstein"][::-1]).answer.tolist()
    assert backwards == [0, 1, 0, 0]


def test_one_question_is_grouped_as_a_table_is() -> None:
    assert simple_keys(["Paris", "paris."], kind_of("text")) == ["paris", "paris"]
    assert simple_keys(["Paris", "It was Paris."], kind_of("text")) is None
    plan = sy.MajorityVote()
    with sy.Ballot(plan, answers="text") as ballot:
        for answer in ("Paris", "It was Paris.", "Rome"):
            ballot.add(answer)
        assert (ballot.state.verdict, ballot.state.votes) == ("Paris", 2)
