"""Which kind of answer a question asks for, told by its text."""

from __future__ import annotations

import pytest

from steelyard.answers.auto_kind import kind_from_question
from steelyard.answers.extract import KINDS


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Which one?\nA) Paris\nB) Rome\nC) Oslo", "choice"),
        ("Which one?\n(A) Paris\n(B) Rome", "choice"),
        ("Which one?\n**A.** Paris\n**B.** Rome", "choice"),
        ("Which one?\nA. Paris\nB. Rome", "choice"),
        ("Which is it: (A) red, (B) green or (C) blue?", "choice"),
        ("Triangle ABC has a right angle at (B). Find AC.", "math"),
        ("A. Smith and B. Jones share 12 apples.", "math"),
        ("How many apples?", "math"),
        ("Is the moon a planet? Answer with yes or no.", "yes-no"),
        ("Is there no way to say yes or count to 5?", "math"),
    ],
)
def test_options_and_yes_or_no_are_seen_in_the_question(question: str, kind: str) -> None:
    assert kind_from_question(question) == (kind if kind in KINDS else "math")


def test_a_long_question_costs_time_in_proportion() -> None:
    assert kind_from_question("A) " * 500_000) == "math"
    assert kind_from_question("answer " * 500_000) == "math"
