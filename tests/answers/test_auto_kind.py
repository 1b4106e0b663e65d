"""Which kind of answers is decided on, by golds, answers and responses."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.answers.auto_kind import choose_kind
from steelyard.answers.extract import KINDS
from steelyard.answers.kind_choice import Evidence, KindChoice
from tests.running import steelyard


def of_golds(*golds: str) -> KindChoice:
    return choose_kind(Evidence(golds))


def of_answers(*answers: str) -> KindChoice:
    return choose_kind(Evidence(answers=lambda: answers))


def of_responses(*responses: str, golds: tuple[str, ...] = ()) -> KindChoice:
    return choose_kind(Evidence(golds, responses=lambda: responses))


@pytest.mark.parametrize(
    ("golds", "kind"),
    [
        (("a", "c", "d"), "choice"),
        (("A", "B) Rome", "(C)", "A,C", "B and D"), "choice"),
        ((r"\text{(C)}", r"so it is \boxed{B}", "Long reasoning first, then\n#### D"), "choice"),
        (("yes", "No", "yes"), "yes-no"),
        (("True", "False"), "yes-no"),
        (("2020-03-05", "1999-12-31"), "date"),
        (("March 5, 2020", "5 March 2020", "3/5/2020", "Dec 2021"), "date"),
        (("Rome", "Albert Einstein", "Boeing 747"), "text"),
        (("Rome", "Paris", "March 5, 2020", "1984", "Oslo"), "text"),
        (('["NYC", "New York"]', '["Rome"]'), "text"),
        (('{"a": 1}', '[{"f": {"x": 2}}]'), "json"),
        (("'abc'", "3", "[1, 2]", "{'k': 2}", "True", "12"), "code"),
        (("12", "-3.5", "1,234", "12 apples", "1/2"), "math"),
        ((r"\frac{1}{2}", "x^2 + 1", "a - b", "f(x)", "3 \\text{ cm}"), "math"),
        (("6 * 7 = 42\n#### 42",), "math"),
        (("[1, 2]", "(0, 1)", "(-oo, 2)"), "math"),
    ],
)
def test_golds_decide_the_kind(golds: tuple[str, ...], kind: str) -> None:
    assert of_golds(*golds).kind == (kind if kind in KINDS else "text")


@pytest.mark.parametrize(
    ("golds", "reason"),
    [
        (["A", "E", "c"] * 50, "150 of 150 golds are letters A to E"),
        (["A"] * 99 + ["none of these"], "99 of 100 golds are letter A"),
        (["12"] * 50, "50 of 50 golds are numbers or maths"),
        (["Rome"] * 6 + ["12"] * 4, "golds are 6 words, 4 numbers or maths"),
    ],
)
def test_the_reason_counts_the_golds(golds: list[str], reason: str) -> None:
    assert choose_kind(Evidence(golds)).reason == reason


def test_golds_of_which_half_are_letters_are_doubtful_maths_and_never_silent() -> None:
    assert of_golds(*["12"] * 6, *["B"] * 4).doubtful
    assert not of_golds(*["12"] * 9, "Monday").doubtful


def test_without_golds_the_answers_decide_and_numbers_stay_maths() -> None:
    assert of_answers("A", "B", "C").kind == "choice"
    assert of_answers("Rome", "Oslo").kind == "text"
    assert of_answers("12", "1/2", "x", "14").kind == "math"
    assert of_answers("12", "Rome", "14", "7").kind == "math"
    assert of_answers('[{"f": 1}]', '[{"g": 2}]').kind == "json"


def test_without_golds_the_responses_decide_only_where_they_are_clear() -> None:
    assert of_responses("The answer is (C). There are 12.", "Answer: B").kind == "choice"
    assert of_responses("It was in the year that is known.", "Nobody can tell, but Rome it was.").kind == "text"
    assert of_responses("There are 5 of them.", "So it is 12.", "The answer is 7").kind == "math"
    assert of_responses(r"So $\boxed{x+1}$", r"\boxed{2}").kind == "math"
    assert of_responses().kind == "math"


def test_digits_as_golds_are_options_only_where_responses_choose_letters() -> None:
    chosen = of_responses("The answer is (C).", "Answer: B", golds=("2", "1"))
    assert chosen.kind == "choice"
    assert chosen.reason == "golds are the digits 1 to 2, and 2 of 2 responses choose letters B to C"
    assert of_responses("So it is 2.", "So it is 1.", golds=("2", "1")).kind == "math"


def test_golds_in_letters_are_labelled_as_letters_without_being_told(tmp_path: Path) -> None:
    rows = [(f"q{i}", s, "ABCDE"[i % 5], f"Answer: {'ABCDE'[i % 5]}. There are {12 + s} of them.") for i in range(30)
            for s in range(4)]  # fmt: skip
    sy.write(pl.DataFrame(rows, schema=["question", "sample", "gold", "response"], orient="row"), tmp_path / "t.jsonl")
    with pytest.warns(sy.errors.SteelyardNote, match="answers are read as choice: 30 of 30 golds are letters A to E"):
        pool = sy.read_labelled(tmp_path / "t.jsonl", score="none")
    assert pool.correct.all()
    assert pool.origin.answers == "choice"
    done = steelyard("evaluate", tmp_path / "t.jsonl", "--score", "none")
    assert "answers are read as choice: 30 of 30 golds are letters A to E" in done.err
    assert "100.0" in done.out


def test_the_decision_looks_at_many_questions_not_at_the_first_rows_alone(tmp_path: Path) -> None:
    rows = [(f"q{i}", "B" if i < 5 else "Rome", "It is Rome.") for i in range(60) for _ in range(200)]
    sy.write(pl.DataFrame(rows, schema=["question", "gold", "response"], orient="row"), tmp_path / "t.parquet")
    found = sy.read_answers(tmp_path / "t.parquet")
    assert (found.kind, found.reason) == ("text", "60 of 60 golds are words")
