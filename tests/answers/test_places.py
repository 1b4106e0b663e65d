"""Where in a response an answer is looked for: nothing that stands before it moves or cuts it."""

from __future__ import annotations

import pytest

from steelyard.answers.extract import extract
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
