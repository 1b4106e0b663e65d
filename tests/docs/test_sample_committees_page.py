"""docs/sample-committees.md: the page and its picture are made of the stored figures; how samples are divided."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from docs.sample_committees.choices import best_members, consensus_ranking, limit_weights, merit, random_division
from docs.sample_committees.measuring import TOTALS, cell, split
from docs.sample_committees.page import HERE, TITLES, stored, text
from docs.sample_committees.picture import SHOWN, picture
from docs.sample_committees.samples import SAMPLES, SampleSet, equal_division

RNG = np.random.default_rng
SKILL = {"ant": 0.9, "bee": 0.5, "cat": 0.2}


def drawn(questions: int = 40, seed: int = 0) -> SampleSet:
    """Three LLMs that answer correctly (0) with their own probability, each in its own wrong way otherwise."""
    correct = RNG(seed).random((questions, len(SKILL), SAMPLES)) < np.array([*SKILL.values()])[:, None]
    wrong = np.arange(1, len(SKILL) + 1)[:, None]
    answer = np.where(correct, 0, wrong).astype(np.int32)
    return SampleSet(tuple(SKILL), answer, np.tile(np.arange(len(SKILL) + 1) == 0, (questions, 1)))


def test_the_page_is_made_of_the_stored_figures() -> None:
    assert (HERE.parent / "sample-committees.md").read_text() == text()


def test_the_picture_names_every_line_and_set() -> None:
    for drawing in (picture(stored("accuracy")), (HERE.parent / "sample-committees.svg").read_text()):
        assert all(name in drawing for name in (*SHOWN.values(), *TITLES.values()))


def test_every_set_has_every_number_of_samples_and_no_choice_costs_more_than_its_budget() -> None:
    accuracy, choices = stored("accuracy"), stored("choices")
    for name in TITLES:
        assert accuracy.filter(set=name, rule="plan")["samples"].to_list() == list(TOTALS)
    spent = choices.group_by("set", "samples", "rule").agg(pl.col("bought").sum())
    assert (spent["bought"] <= spent["samples"] + 1e-4).all()


def test_a_file_is_read_as_codes_that_equivalent_answers_share(tmp_path: Path) -> None:
    answers = ["1/2", "0.5", "3", None]
    rows = [
        {"question": q, "llm": llm, "sample": n, "answer": answers[n % 4], "correct": n % 4 < 2}
        for q in ("q0", "q1")
        for llm in ("bee", "ant")
        for n in range(SAMPLES + 2)
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "samples.parquet")
    samples = SampleSet.read(tmp_path / "samples.parquet", "math")
    assert samples.llms == ("ant", "bee")
    assert samples.answer.shape == (2, 2, SAMPLES)
    half, same, three, unreadable = samples.answer[1, 0, :4].tolist()
    assert (half == same, half == three, unreadable) == (True, False, -1)
    assert (samples.correct[1, half], samples.correct[1, three]) == (True, False)


def test_the_majority_is_that_of_the_divided_samples_and_ties_share_the_credit() -> None:
    samples = SampleSet(("ant", "bee"), np.array([[[0, 0, 1], [1, -1, 1]]], np.int32), np.array([[True, False]]))
    divisions = {(1, 0): 1.0, (1, 1): 0.5, (2, 1): 1.0, (3, 3): 0.0, (0, 1): 0.0}
    for division, credit in divisions.items():
        assert samples.majority(np.array([division])).tolist() == [credit]
    pool = samples.pool(np.array([[2, 1]]), RNG(0))
    assert sorted(pool.answer.tolist()) == [0, 0, 1]
    assert pool.correct.sum() == 2


def test_an_equal_division_spends_everything_and_gives_the_remainder_to_random_members() -> None:
    division = equal_division(8, np.tile([0, 2, 3], (200, 1)), 4, RNG(0))
    assert (division.sum(axis=1) == 8).all()
    assert (division[:, 1] == 0).all()
    assert set(division[:, [0, 2, 3]].ravel().tolist()) == {2, 3}
    assert (equal_division(1, np.tile([0, 1], (200, 1)), 2, RNG(0)).sum(axis=0) > 50).all()
    assert (random_division(5, np.array([0.0, 1.0]), 3, RNG(0)) == [0, 5]).all()


def test_labels_choose_the_best_llm_and_consensus_ranks_without_them() -> None:
    samples = drawn()
    by_llm = merit(samples, 4, RNG(0))
    assert by_llm.mean(axis=0).argmax() == 0
    assert best_members(samples, 4, by_llm, RNG(0))[0] == 0
    assert consensus_ranking(samples)[0] == 0


def test_limit_weights_get_most_labelled_questions_right_with_the_largest_least_margin() -> None:
    shares = np.array([[[0.6, 0.4], [0.0, 1.0]], [[0.3, 0.7], [0.9, 0.1]]])  # one LLM alone is right in one question
    weights = limit_weights(shares, np.array([[True, False], [True, False]]), RNG(0))
    leads = weights @ shares[:, :, 0].T - weights @ shares[:, :, 1].T
    grid = np.stack([np.linspace(0, 1, 1001), np.linspace(1, 0, 1001)], axis=1)
    every = grid @ (shares[:, :, 0] - shares[:, :, 1]).T
    correct = (every > 0).sum(axis=1)
    assert (leads > 0).sum() == correct.max()
    margin = np.where(every > 0, every, 1.0).min(axis=1)[correct == correct.max()].max()
    assert leads[leads > 0].min() == pytest.approx(margin, abs=0.05)


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_no_label_of_a_test_question_is_read() -> None:
    labelled, test = split(40, 20, 3)
    assert sorted([*labelled, *test]) == list(range(40))
    samples = drawn()
    swapped = samples.correct.copy()
    swapped[test] = np.roll(swapped[test], 1, axis=1)
    outcomes, bought = cell(samples, "aime", 20, 3, (2, 8))
    assert bought == cell(replace(samples, correct=swapped), "aime", 20, 3, (2, 8))[1]
    assert np.isnan(outcomes[8, "plan"][labelled]).all()
    assert np.nanmean(outcomes[8, "single chosen"]) > np.nanmean(outcomes[8, "single average"])


def test_a_budget_of_samples_is_planned_by_the_library() -> None:
    samples = drawn()
    pool = samples.pool(np.full((40, 3), 8))
    bought = sy.plan_budget(pool, prices={"sample": 1}, budget=8).plan.samples_
    assert bought is not None
    assert sum(bought.values()) <= 8
