"""The ballots of the page tell one story: bars add up, counts add up, and the first one is a good example."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.percentages import tenths
from steelyard.evaluation.reports.ballot_browser import browser, moved
from steelyard.evaluation.reports.ballot_data import (
    CHANGED,
    CORRECT,
    MAJORITY_CORRECT,
    ballots,
    entries,
    first_shown,
    flags,
)
from steelyard.evaluation.reports.summary import Case, open_case
from steelyard.voting.answer_values import value_kind
from tests.building import labelled


@pytest.fixture(scope="module")
def case() -> Case:
    return open_case("x", labelled(sy.simulate(300, 16, seed=4)), "calibrated", share=0.3, seed=0)


def test_the_bars_of_every_ballot_add_up_to_100_per_cent(case: Case) -> None:
    assert value_kind(case.method) == "probability"
    for entry in entries(case.method, case.test):
        assert sum(share for _, share in entry["t"]) + entry["o"] == 1000
        assert all(share >= 0 for _, share in entry["t"])


@pytest.mark.parametrize("method", ["best-of-n", "kde"])
def test_parts_of_the_weight_add_up_and_are_never_negative(case: Case, method: str) -> None:
    vote = sy.method_class(method)().fit(case.cal)
    assert value_kind(vote) == "share"
    for entry, cast in zip(entries(vote, case.test), vote.predict(case.test).cast, strict=True):
        assert sum(share for _, share in entry["t"]) == (1000 if cast else 0)
        assert all(share >= 0 for _, share in entry["t"])


@pytest.mark.parametrize("method", ["logit", "linear", "vanilla", "majority"])
def test_only_a_weight_that_is_a_function_of_the_score_counts_against_an_answer(case: Case, method: str) -> None:
    vote = sy.method_class(method)().fit(case.cal)
    assert value_kind(vote) == "weight"
    totals = np.concatenate([np.array(entry["t"]) for entry in entries(vote, case.test)])
    assert (totals[:, 2] <= 0).all()
    assert (totals[:, 2] < 0).any() == (method in ("logit", "linear"))


def test_rounded_shares_keep_their_sum() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 7, 64):
        parts = rng.dirichlet(np.full(size, 0.3)).tolist()
        assert sum(tenths(parts)) == 1000
        assert max(abs(a / 1000 - b) for a, b in zip(tenths(parts), parts, strict=True)) < 1e-3


def test_what_became_of_changed_verdicts_adds_up(case: Case) -> None:
    flag = flags(case)
    said = browser(0, case, ballots(case, pl.DataFrame({"x": [""] * case.test.n_responses}), budget=10**6))
    counted = re.search(r"([\d,]+) \(([^)]*)\)</span>", said)
    assert counted, said
    assert int(counted[1]) == (flag & CHANGED > 0).sum() > 0
    assert sum(int(part.split()[0]) for part in counted[2].split(", ")) == int(counted[1])


def test_every_outcome_of_a_change_is_named() -> None:
    kinds = [CHANGED | CORRECT, CHANGED | MAJORITY_CORRECT, CHANGED, CHANGED | CORRECT | MAJORITY_CORRECT]
    said = moved(np.repeat(np.array([*kinds, 0]), [93, 20, 132, 1, 9]))
    assert said == " (93 became correct, 20 became wrong, 132 stayed wrong, 1 stayed correct)"
    assert moved(np.zeros(4, np.int64)) == ""


def test_the_first_ballot_overturns_a_wrong_majority(case: Case) -> None:
    first = first_shown(case)
    mine, majority = case.verdicts["calibrated"], case.verdicts["majority"]
    assert mine.correct(case.test)[first]
    assert not majority.correct(case.test)[first]
    rows = slice(case.test.starts[first], case.test.starts[first + 1])
    scores, answers = case.test.known_scores[rows], case.test.answer[rows]
    assert np.nanmean(scores[answers == mine.code[first]]) > np.nanmean(scores[answers == majority.code[first]])


def test_the_first_ballot_is_on_the_page_however_small(case: Case) -> None:
    found = ballots(case, pl.DataFrame({"x": [""] * case.test.n_responses}), budget=1)
    assert found["left_out"] == case.test.n_questions - 1
    assert found["questions"][found["first"]]["i"] == str(case.test.questions[first_shown(case)])


def test_a_method_that_changes_nothing_begins_with_a_correct_verdict() -> None:
    case = open_case("x", labelled(sy.simulate(120, 6, seed=1)), "majority", share=0.3, seed=0)
    assert case.verdicts["majority"].correct(case.test)[first_shown(case)]
