"""Where in a response an answer is looked for: nothing that stands before it moves or cuts it."""

from __future__ import annotations

import pytest

import steelyard as sy
from steelyard.answers.extract import extract
from steelyard.answers.normal import normal_form
from steelyard.answers.numbers import last_number


@pytest.mark.parametrize("after", range(290, 301))
def test_a_number_is_never_cut_in_two_however_far_it_stands_from_the_end(after: int) -> None:
    """Up to a version, the last 300 characters were read by themselves: 1,234,567 could be 567."""
    assert last_number("It is 1,234,567" + "x" * after) == "1,234,567"


def test_letters_that_grow_in_lower_case_do_not_move_the_answer() -> None:
    """İ is two characters in lower case: so many of them once cut the answer short."""
    assert extract("İİİİİİİİ. The answer is 42 because of 7").answer == "42"


def test_the_last_of_several_fields_is_read_whatever_its_case() -> None:
    text = '{"FINAL_ANSWER": "3"}\n{"final answer" : "4"}\n{"Answer":\n"5"} the "answer" and "answers": 6'
    assert extract(text).answer == "5"
    assert extract('"answer": "3", then {“ANSWER”: "4"}').answer == "4"


@pytest.mark.parametrize(
    ("said", "form"),
    [
        ("1 000 000", "1000000"), ("1'000", "1000"), ("1.234,56", "30864/25"), ("3 1/2", "7/2"), ("2^{10}", "1024"),
        ("−1 234,5", "-2469/2"), ("12 and 345", "345"),
    ],
)  # fmt: skip
def test_a_number_in_several_groups_is_read_whole(said: str, form: str) -> None:
    """Once its last group was read: 000 of a million."""
    answer = extract(f"Answer: {said}", "number").answer
    assert answer is not None
    assert normal_form(answer) == form


@pytest.mark.parametrize("words", ["D-glucose", "B-cells", "E = mc^2", "A's"])
def test_a_letter_that_belongs_to_a_word_or_a_formula_is_no_option(words: str) -> None:
    assert extract(f"The answer is {words}", "choice").answer == words


@pytest.mark.parametrize(
    ("one", "another"),
    [("2020-03-05", "2020-05-03"), ("2/6/2020", "1/3/2020"), ("2020/3/4", "2020/12/1"), ("5 March", "5 May")],
)
def test_dates_are_not_reckoned_with(one: str, another: str) -> None:
    """As a difference or a fraction, or with the month as a unit, they were one answer."""
    assert not sy.same_answer(one, another)
    assert sy.same_answer(one, f"{one}.")
    assert normal_form(normal_form(one)) == normal_form(one)
