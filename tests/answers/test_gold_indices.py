"""Golds of a choice as letters in any case, and as indices: decided by all golds of a file."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run

LETTERS = ["a", "b", "c", "d"]
PHRASED = ["The answer is {}.", "option {} is correct", "({})", "I would go with {}) Rome", "A is wrong. Therefore, {}"]


def table(golds: list[object], answers: list[str]) -> pl.DataFrame:
    rows = [
        {"question": str(i), "gold": gold, "response": phrase.format(answer.upper())}
        for i, (gold, answer) in enumerate(zip(golds, answers, strict=True))
        for phrase in PHRASED
    ]
    return pl.DataFrame(rows)


def correct(golds: list[object], answers: list[str]) -> float:
    pool = sy.read_labelled(table(golds, answers), score="none", answers="choice")
    return float(pool.correct.mean())


def test_lower_case_golds_are_letters() -> None:
    assert correct([*LETTERS], LETTERS) == 1.0
    assert correct(["(a)", "b)", "c.", "D"], LETTERS) == 1.0


@pytest.mark.parametrize("golds", [[0, 1, 2, 3], ["0", "1", "2", "3"], [0.0, 1.0, 2.0, 3.0]])
def test_golds_0_to_3_are_indices_where_the_responses_choose_letters(golds: list[object]) -> None:
    with pytest.warns(sy.errors.SteelyardNote, match="gold answers 0 to 3 are read as option indices: 0 is A, 3 is D"):
        assert correct(golds, LETTERS) == 1.0
    with pytest.warns(sy.errors.SteelyardNote, match="indices"):
        assert correct(golds, [*LETTERS[1:], "a"]) == 0.0


def test_all_golds_decide_also_those_after_the_first_rows() -> None:
    golds: list[object] = [*[1, 2, 3] * 60, 0]
    letters = ["abcd"[int(str(gold))] for gold in golds]
    with pytest.warns(sy.errors.SteelyardNote, match="0 is A"):
        assert correct(golds, letters) == 1.0


def test_numbers_that_never_are_0_are_refused_with_the_fix() -> None:
    with pytest.raises(sy.errors.LabelError, match="1 to 4 and the responses choose letters, but option indices"):
        correct([1, 2, 3, 4], LETTERS)


def test_a_letter_among_the_golds_keeps_numbers_what_they_are() -> None:
    with pytest.raises(sy.errors.LabelError, match="give gold as the letter"):
        correct(["0", "b", "c", "d"], LETTERS)


def test_golds_in_figures_for_options_in_figures_are_no_indices() -> None:
    rows = pl.DataFrame({"question": ["a", "b"], "gold": [0, 1], "response": ["The answer is 0.", "The answer is 0."]})
    pool = sy.read_labelled(rows, score="none", answers="choice")
    assert pool.correct.tolist() == [True, False]


def test_a_run_reads_golds_as_indices_too(tmp_path: Path) -> None:
    questions = pl.DataFrame({"question": ["p", "q"], "prompt": ["?", "?"], "gold": ["2", "0"]})
    with Run.start(tmp_path / "run", Manifest("0" * 64, "m", 1, answers="choice"), questions) as run:
        run.add_now(
            [{"kind": "sample", "question": name, "sample": 0, "response": f"It is ({letter}).", "attempts": 1}
             for name, letter in (("p", "C"), ("q", "B"))]
        )  # fmt: skip
    with pytest.warns(sy.errors.SteelyardNote, match="0 is A, 2 is C"):
        assert sy.read_labelled(tmp_path / "run", score="none").correct.tolist() == [True, False]
