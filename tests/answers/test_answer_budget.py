"""What reading an answer may cost: steps that grow no faster than its text; what runs out of them is counted."""

from __future__ import annotations

import importlib
import pkgutil
import random
import re
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.answers import step_budget as budget
from steelyard.answers.equivalence import EquivalenceChecker
from steelyard.answers.grouping import group
from steelyard.answers.normal import normal_form
from steelyard.answers.pairs import MAX_FORMS, MAX_PAIRS
from steelyard.answers.step_budget import (
    PER_CHARACTER,
    OutOfBudget,
    allowance,
    budget_for,
    memoized,
    spend,
)
from tests.answers.linear_patterns import ambiguous
from tests.answers.worst_answers import allowed_lines, every_worst_case, random_worst_case, read_in_every_way, steps_of
from tests.running import steelyard

COSTLY = "*".join(["(9^{99}x+1)^{16}"] * 3)


@pytest.mark.parametrize("depth", [1, 12, 40, pytest.param(300, marks=pytest.mark.long)])
def test_no_construct_nested_or_repeated_costs_more_than_its_length_allows(depth: int) -> None:
    for text in every_worst_case((depth,)):
        assert steps_of(read_in_every_way, text) <= allowed_lines(text), text[:80]


def test_no_mixture_of_constructs_does() -> None:
    rng = random.Random(0)
    for text in (random_worst_case(rng) for _ in range(40)):
        assert steps_of(read_in_every_way, text) <= allowed_lines(text), text[:80]


@pytest.mark.parametrize("k", [2, 18, 300])
def test_fractions_after_a_digit_are_read_once_however_deep(k: int) -> None:
    text = "2\\frac{" * k + "3" + "}{1}" * k
    assert steps_of(normal_form, text) <= 1000 * len(text)


def test_a_fraction_after_a_digit_that_is_no_mixed_number_is_a_product() -> None:
    texts = ["2\\frac43", "2\\frac{4}{3}", "2^2\\frac{3}{1}", "2\\frac{3}{1}^2", "3\\frac{x}{2}", "1\\frac45"]
    assert [normal_form(text) for text in texts] == ["8/3", "8/3", "12", "18", "3/2*x", "9/5"]


def test_products_of_roots_need_no_factors() -> None:
    primes = [p for p in range(9000, 9720) if all(p % d for d in range(2, 99))][-60:]
    text = "(" + "+".join(f"\\sqrt{{{p}}}" for p in primes) + ")^2"
    assert steps_of(normal_form, text) <= allowed_lines(text)
    assert normal_form("\\sqrt{6}\\cdot\\sqrt{15}\\cdot\\sqrt{10}") == "30"
    assert normal_form("\\sqrt{94090000}") == "9700"
    assert normal_form("\\sqrt{18818}") == "97*sqrt(2)"


def test_every_pattern_that_reads_answers_is_linear() -> None:
    found = 0
    for module in pkgutil.walk_packages([str(Path(budget.__file__).parent)], "steelyard.answers."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, tuple) and value and isinstance(value[0], re.Pattern):
                assert [ambiguous(pattern) for pattern in value] == [None] * len(value), f"{module.name}.{name}"
            if isinstance(value, re.Pattern):
                assert ambiguous(value) is None, f"{module.name}.{name}"
                found += 1
    assert found > 60


@pytest.mark.parametrize("pattern", [r"(a+)+b", r"a\s*b?\s*c", r"(?:a|b)*[ab]*c", r"\w*\d*x", r"(?:x+y?)*z"])
def test_a_pattern_that_can_run_away_is_found(pattern: str) -> None:
    assert ambiguous(re.compile(pattern)) is not None


def test_a_budget_grows_with_the_text_and_ends() -> None:
    assert allowance(1000) - allowance(0) == 1000 * PER_CHARACTER
    with budget_for("x") as left:
        spend(allowance(1))
        with pytest.raises(OutOfBudget):
            spend()
    assert left.spent == allowance(1) + 1
    spend(10**9)  # nobody counts here


def test_what_is_remembered_is_worked_out_once_and_costs_the_same_steps_again() -> None:
    worked = []

    @memoized
    def upper(text: str) -> str:
        worked.append(text)
        spend(300)
        return text.upper()

    with budget_for("") as left:
        assert [upper("a"), upper("b"), upper("a")] == ["A", "B", "A"]
        assert left.spent == 900
    assert worked == ["a", "b"]


def test_an_answer_that_runs_out_is_a_class_of_its_own_and_is_counted(tmp_path: Path) -> None:
    assert normal_form(COSTLY).startswith("costly:")
    assert normal_form(normal_form(COSTLY)) == normal_form(COSTLY)
    assert sy.group_answers([COSTLY, "1", COSTLY + "+1", COSTLY, "2/2"]) == [0, 1, 2, 0, 1]
    table = pl.DataFrame({"question": ["a"] * 4, "answer": [COSTLY, COSTLY, "7", "14/2"]})
    sy.write(table, tmp_path / "t.parquet")
    done = steelyard("answers", tmp_path / "t.parquet")
    assert "2 answers are too long to parse" in done.out
    assert '"costly": 2' in steelyard("answers", tmp_path / "t.parquet", "--json").out
    with pytest.warns(sy.SteelyardWarning, match="1 answers are too long to parse"):
        sy.read(table, score="none")


class Counting(EquivalenceChecker):
    """An equivalence checker that decides at once by what is written, and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(workers=1)
        self.asked: list[tuple[str, ...]] = []

    def _ask(self, words: tuple[str, ...]) -> float | str | bool | None:
        self.asked.append(words)
        return "symbolic" if len(words) == 1 else words == tuple(SAME)


SAME = ["\\lfloor 0+x\\rfloor", "\\lfloor x\\rfloor"]  # nothing that has a fingerprint


@pytest.mark.parametrize("others", [18, 19, 150])
def test_the_answers_with_most_votes_are_compared_first_and_the_rest_is_counted(others: int) -> None:
    checker = Counting()
    answers = SAME * 2 + [f"\\lfloor({i}x)\\rfloor" for i in range(others)]
    found = group(answers, checker)
    assert found.classes[0] == found.classes[1]
    valued = [words for words in checker.asked if len(words) == 1]
    pairs = [words for words in checker.asked if len(words) == 2]
    assert len(valued) == min(MAX_FORMS, others + 2)
    assert len(pairs) == min(MAX_PAIRS, (others + 2) * (others + 1) // 2)
    assert found.undecided == (others + 2) * (others + 1) // 2 - len(pairs)


def test_undecided_pairs_are_told_by_every_verb_that_reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("steelyard.answers.equivalence.EquivalenceChecker", Counting)
    table = pl.DataFrame({"question": ["a"] * 23, "answer": SAME * 2 + [f"\\lfloor({i}x)\\rfloor" for i in range(19)]})
    sy.write(table, tmp_path / "t.parquet")
    assert "10 pairs of answers could not be compared in time" in steelyard("vote", tmp_path / "t.parquet").err
    assert "could not be compared in time and count as" in steelyard("answers", tmp_path / "t.parquet").out


def test_a_gold_answer_is_compared_before_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.answers.equivalence.EquivalenceChecker", Counting)
    answers = [f"\\lfloor({i}x)\\rfloor" for i in range(60) for _ in range(3)] + [SAME[0]]
    table = pl.DataFrame({"question": ["a"] * len(answers), "answer": answers, "gold": [SAME[1]] * len(answers)})
    pool = sy.read(table, score="none")
    assert isinstance(pool, sy.LabelledPool)
    assert pool.correct.tolist() == [False] * 180 + [True]


def test_thousands_of_numbers_beside_an_expression_cost_no_pair_each(monkeypatch: pytest.MonkeyPatch) -> None:
    checker = Counting()
    monkeypatch.setattr("steelyard.answers.equivalence.EquivalenceChecker", lambda: checker)
    answers = [str(i) for i in range(5000)] + [SAME[1]]
    table = pl.DataFrame({"question": ["a"] * len(answers), "answer": answers})
    lines = steps_of(lambda _: sy.read(table, score="none"), "x")
    assert checker.asked == [(SAME[1],)]
    assert lines < 400 * len(answers)  # pairs would be thousands for each
