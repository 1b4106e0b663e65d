"""Scores relative to the other responses of a question: the formula, subsets, sources, missing values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard import Pool
from steelyard.voting.pools.relative_scores import LIMIT, relative_scores, standardised_again
from tests.committees import committee

LENGTHS = st.lists(st.integers(1, 10_000), min_size=1, max_size=12)


def by_hand(values: list[float]) -> list[float]:
    """One group, in plain Python."""
    median = float(np.median(values))
    distances = [abs(x - median) for x in values]
    spread = 1.4826 * float(np.median(distances)) or 1.2533 * sum(distances) / len(distances)
    z = [(x - median) / spread if spread else 0.0 for x in values]
    return [1 / (1 + np.exp(-min(max(each, -LIMIT), LIMIT))) for each in z]


@given(st.lists(LENGTHS, min_size=1, max_size=4))
def test_each_group_is_standardised_by_itself(groups: list[list[int]]) -> None:
    values = np.log([x for group in groups for x in group])
    group = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    expected = [score for part in groups for score in by_hand(np.log(part).tolist())]
    assert np.allclose(relative_scores(values, group), expected)


@given(LENGTHS, st.randoms())
def test_the_order_of_the_responses_does_not_change_a_bit(lengths: list[int], random: object) -> None:
    values, group = np.log(np.array(lengths, float)), np.zeros(len(lengths), int)
    order = np.array(sorted(range(len(lengths)), key=lambda _: random.random()))  # type: ignore[attr-defined]
    assert (relative_scores(values, group)[order] == relative_scores(values[order], group)).all()


def test_a_missing_value_has_no_score_and_does_not_count_for_the_others() -> None:
    scores = relative_scores(np.array([1.0, np.nan, 2.0, 4.0]), np.zeros(4, int))
    assert np.isnan(scores[1])
    assert np.allclose(scores[[0, 2, 3]], by_hand([1.0, 2.0, 4.0]))
    assert np.isnan(relative_scores(np.array([np.nan]), np.zeros(1, int))).all()


def pool(lengths: list[float], source: list[str] | None = None, parts: bool = False) -> Pool:
    """One question; its scores are computed from the lengths."""
    found = Pool.from_arrays(question=[0] * len(lengths), answer=list(range(len(lengths))), source=source)
    scores = relative_scores(np.log(lengths), found.question_and_source)
    if parts:
        both = found.with_parts({"length(x)": scores, "prm": np.linspace(0.1, 0.9, len(lengths))})
        return replace(both, origin=replace(both.origin, relative=("length(x)",)))
    return replace(found, scores=scores, origin=replace(found.origin, score="length(x)", relative=("length(x)",)))


def test_the_first_samples_are_standardised_without_the_later_ones() -> None:
    lengths = [120.0, 300.0, 90.0, 5000.0, 7000.0]
    assert np.allclose(pool(lengths).first(3).known_scores, pool(lengths[:3]).known_scores)


def test_in_a_mix_only_the_relative_scores_are_standardised_again() -> None:
    lengths = [120.0, 300.0, 90.0, 5000.0]
    first, alone = pool(lengths, parts=True).first(3), pool(lengths[:3])
    assert first.parts is not None
    assert np.allclose(first.parts[:, 0], alone.known_scores)
    assert np.allclose(first.parts[:, 1], np.linspace(0.1, 0.9, 4)[:3])


@pytest.mark.parametrize("samples", [2, 3])
def test_scores_on_any_scale_are_ranked_among_the_samples_that_are_left(samples: int) -> None:
    """With two samples every score is in [0, 1] again, so that nothing is ranked."""
    parts = {"judge": [0.7, 0.2, 9.0, -4.0], "prm": [0.6, 0.9, 0.1, 0.3]}

    def mixed(n: int) -> Pool:
        answers = Pool.from_arrays(question=[0] * n, answer=list(range(n)), source=["a", "a", "a", "b"][:n])
        return answers.with_parts({name: column[:n] for name, column in parts.items()})

    expected = mixed(samples).known_scores
    assert np.allclose(mixed(4).first(samples).known_scores, expected)
    assert np.allclose(mixed(4).first_of_sources({"a": samples, "b": 0}).known_scores, expected)


def test_of_scores_on_any_scale_those_of_other_sources_do_not_count() -> None:
    both = Pool.from_arrays(question=[0] * 3, answer=[0, 1, 2], source=["a", "a", "b"])
    alone = Pool.from_arrays(question=[0] * 2, answer=[0, 1])
    judge, prm = [7.0, 2.0, 9.0], [0.6, 0.9, 0.1]
    mixed = both.with_parts({"judge": judge, "prm": prm}).from_sources(["a"])
    assert np.allclose(mixed.known_scores, alone.with_parts({"judge": judge[:2], "prm": prm[:2]}).known_scores)


def test_a_committee_learns_from_scores_on_any_scale_and_from_relative_ones() -> None:
    """It carries its weights in place of the scores of a mix."""
    table = committee(questions=60).with_columns(judge=pl.col("correct") * 5.0 + 1, prm=0.5, length=pl.lit(7))
    for score in ("judge+prm", "length(length)", "length(length)+prm"):
        read = sy.read_labelled(table, source="llm", score=score, answers="exact")
        assert sy.CommitteeVote().fit(read).predict(read.unlabelled()).confidence is not None


def test_sources_are_standardised_by_themselves() -> None:
    found = pool([100, 10, 200, 20, 400, 40], source=["a", "b"] * 3)
    assert np.allclose(found.known_scores[::2], by_hand(np.log([100, 200, 400]).tolist()))
    fewer = found.first_of_sources({"a": 2, "b": 2})
    assert np.allclose(fewer.known_scores[::2], by_hand(np.log([100, 200]).tolist()))


@pytest.mark.parametrize("lengths", [[7.0], [7.0, 7.0, 7.0]])
def test_equal_lengths_have_the_neutral_score(lengths: list[float]) -> None:
    scores = relative_scores(np.log(lengths), np.zeros(len(lengths), int))
    assert (scores == 0.5).all()
    assert (standardised_again(scores, np.zeros(len(lengths), int)) == 0.5).all()
