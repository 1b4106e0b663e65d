"""Fingerprints: a difference at a point proves two forms different, and never separates two equal ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.answers.equivalence import EquivalenceChecker
from steelyard.answers.fingerprints import Statement, differ, fingerprint, statement
from steelyard.answers.grouping import group
from steelyard.answers.normal import normal_form
from tests.answers.equal_spellings import equal_lists, equal_spellings
from tests.answers.test_answer_budget import Counting

# what math-verify reads in a way of its own: it says that both are the same
JOINED = [
    ("\\frac{1}{2x+\\sin x}", "1/(2x+\\sin x)"),
    ("1/2x\\sin x", "\\frac{1}{2x\\sin x}"),
    ("\\cos x y", "\\cos(xy)"),
    ("\\sqrt 2+\\ln 2", "\\ln(2)+\\sqrt{2}"),
    ("A\\cos B", "a\\cos b"),
    ("a_1b_{12}^k", "b_{12}^ka_1"),
    ("2^xy", "y2^{x}"),
    ("\\log_2 13", "\\frac{\\ln 13}{\\ln 2}"),
    ("\\log 5", "\\frac{\\ln 5}{\\ln 10}"),
    ("|a||b-\\sqrt{a}|", "|a(\\sqrt{a}-b)|"),
    ("15\\frac{z_2}{\\sqrt[3]{z_1}}", "\\frac{15z_2}{\\sqrt[3]{z_1}}"),
    ("\\sin(β)", "\\sin\\beta"),
    ("[\\frac{x}{x+1},\\infty)", "[1-\\frac{1}{x+1},\\infty)"),
    ("y=\\frac{1}{x+1}", "\\frac{1}{1+x}"),
    ("\\frac{1}{x+1}+4 m", "\\frac{1}{x+1}+4"),
    ("1+f(x)^2", "1+f(x)f(x)"),
    ("b+adf(h)", "adfh+b"),
]


@pytest.fixture(scope="module")
def checker() -> Iterator[EquivalenceChecker]:
    with EquivalenceChecker() as made:
        yield made


@given(st.randoms(use_true_random=False))
def test_equal_expressions_are_never_told_apart(rng: random.Random) -> None:
    one, two = equal_lists(rng)
    assert not differ(fingerprint(normal_form(one)), fingerprint(normal_form(two))), (one, two)


def test_what_math_verify_takes_for_the_same_is_not_told_apart(checker: EquivalenceChecker) -> None:
    forms = [(normal_form(a), normal_form(b)) for a, b in JOINED]
    assert checker.decide(forms) == [True] * len(forms)
    for a, b in forms:
        assert not differ(fingerprint(a), fingerprint(b)), (a, b)


@pytest.mark.long
def test_no_generated_pair_that_math_verify_joins_is_told_apart(checker: EquivalenceChecker) -> None:
    rng = random.Random(0)
    forms = [normal_form(text) for _ in range(60) for text in equal_spellings(rng)]
    pairs = [(a, b) for a in forms for b in rng.sample(forms, 2)]
    apart = [(a, b) for a, b in pairs if differ(fingerprint(a), fingerprint(b))]
    joined = [pair for pair, same in zip(apart, checker.decide(apart), strict=True) if same]
    assert len(apart) > 100
    assert not joined


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("\\frac{1}{x+1}", "\\frac{1}{x+2}"),
        ("\\sin x", "\\cos x"),
        ("2^{n^2/2}", "2^{n^2}"),
        ("[\\frac{1}{x+1},\\infty)", "[\\frac{1}{x+2},\\infty)"),
        ("x\\le\\sqrt{y}", "\\sqrt{y}"),
        ("y=\\frac{1}{x+1}", "\\frac{1}{x+2}"),
        ("\\{\\sqrt[3]{2},3\\}", "(\\sqrt[3]{2},3)"),
        ("b+2ah-a+adf(h)f^2-k", "2k+b"),
        ("\\sqrt{T_0+1}", "{814,841,150094635296999121}"),
        ("\\sqrt[3]{x}", "\\sqrt[3]{w+z}"),
    ],
)
def test_forms_that_differ_are_told_apart_and_nobody_is_asked(one: str, two: str) -> None:
    checker = Counting()
    assert group([one, two], checker).classes == [0, 1]
    assert not checker.asked


def test_a_hundred_wrong_answers_with_letters_ask_nobody() -> None:
    checker = Counting()
    found = group([f"\\frac{{x}}{{x^2+{i}}}" for i in range(1, 100)], checker)
    assert (len(set(found.classes)), found.undecided, checker.asked) == (99, 0, [])


def test_lists_of_numbers_are_compared_entry_by_entry(checker: EquivalenceChecker) -> None:
    assert group(["(\\frac{1}{1+\\sqrt{2}},2)", "(\\sqrt{2}-1,2)"], checker).classes == [0, 0]


@pytest.mark.parametrize(
    ("form", "number"),
    [
        ("\\sqrt[3]{8}", 2.0),
        ("8^{\\frac{3}{2}}", 22.627416998),
        ("\\binom{5}{2}", 10.0),
        ("e^{\\ln 3}", 3.0),
        ("5!", 120.0),
        ("x\\approx 5", 5.0),
        ("e\\approx 3", 2.718281828),
    ],
)
def test_a_form_without_letters_is_a_number(form: str, number: float) -> None:
    found = fingerprint(form)
    assert found is not None
    assert found.number == pytest.approx(number)


@pytest.mark.parametrize(
    "form",
    [
        "2 3", "\\sqrt 12", "3\\frac{5}{2}", "2^3^2", "\\log_10(3)", "\\sin^{-1}(x)", "\\frac{dy}{dx}", "x or y",
        "1,234x", "\\frac{1}{\\sin(\\pi)}", "10^{400}", "(10^{20}+1)-10^{20}", "x+y\\approx 5", "\\lfloor x\\rfloor",
        "\\frac{1}{x-x}", "f(x)^2", "2f^{-1}(x)", "2dx^2", "x^dy",
    ],
)  # fmt: skip
def test_what_is_ambiguous_or_lost_its_figures_has_no_fingerprint(form: str) -> None:
    assert fingerprint(form) is None


CUT_OFF = ["(2ac)-(c+k", "6,(2*10", "1+\\frac{2}{3})", "9*", "x^2-", "11^{}", "1-\\frac", "2\\cos"]


@pytest.mark.parametrize("form", CUT_OFF)
def test_what_is_cut_off_is_a_class_of_its_own_and_nobody_is_asked(form: str) -> None:
    checker = Counting()
    assert group([form, "9", "x+1"], checker).classes == [0, 1, 2]
    assert not checker.asked


def test_math_verify_reads_nothing_that_is_cut_off(checker: EquivalenceChecker) -> None:
    assert checker.values(CUT_OFF) == [None] * len(CUT_OFF)


@pytest.mark.parametrize("form", ["\\sqrt{242}=11\\sqrt[3]{2}", "\\pm\\sqrt[3]{2}", "\\frac{180{7}", "\\le 6"])
def test_a_statement_about_numbers_only_is_a_class_of_its_own(form: str) -> None:
    assert statement(form) is Statement.NOTHING
    checker = Counting()
    assert group([form, "6"], checker).classes == [0, 1]
    assert not checker.asked
