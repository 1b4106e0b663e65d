"""Tournaments: how many comparisons they have, which, and the scores that follow from the replies."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.sampling.verifiers.tournament import Pair, Tournament, comparison_range, ring, win_probability

Judge = Callable[[int, int], float | None]
numbers_of_players, numbers_of_leaders = st.integers(1, 24), st.integers(1, 26)
qualities = st.lists(st.floats(-3, 3), min_size=1, max_size=12, unique=True)


def consistent(quality: list[float]) -> Judge:
    return lambda a, b: 1 / (1 + math.exp(quality[b] - quality[a]))


def played(players: int, leaders: int, judge: Judge) -> Tournament:
    """Play to the end; no pair is asked about twice in the same order."""
    tournament = Tournament(players, leaders)
    while calls := tournament.next():
        assert not tournament.replies.keys() & set(calls)
        tournament.replies.update({call: judge(*call) for call in calls})
    return tournament


@given(players=numbers_of_players, leaders=numbers_of_leaders, seed=st.integers(0, 99))
def test_the_number_of_comparisons_is_within_the_bound_and_the_estimate(players: int, leaders: int, seed: int) -> None:
    quality = np.random.default_rng(seed).normal(size=players).tolist()
    tournament = played(players, leaders, consistent(quality))
    comparisons = len(tournament.outcomes())
    k = min(leaders, players)
    assert comparisons <= players + k * (players - k) + k * (k - 1) // 2
    low, high = comparison_range(players, leaders)
    assert low <= comparisons <= high
    assert len(tournament.replies) == 2 * comparisons, "both orders of every pair, and nothing else"


@given(players=st.integers(2, 24), leaders=numbers_of_leaders, seed=st.integers(0, 99))
def test_everybody_is_compared_with_both_neighbours_and_with_every_leader(
    players: int, leaders: int, seed: int
) -> None:
    quality = np.random.default_rng(seed).normal(size=players).tolist()
    tournament = played(players, leaders, consistent(quality))
    pairs = tournament.outcomes().keys()
    assert set(ring(players)) <= pairs
    opponents = {i: sum(i in pair for pair in pairs) for i in range(players)}
    assert sum(count == players - 1 for count in opponents.values()) >= min(leaders, players)


@given(quality=qualities, leaders=numbers_of_leaders, order=st.randoms())
def test_the_scores_do_not_depend_on_the_order_in_which_replies_arrive(
    quality: list[float], leaders: int, order: st.DataObject
) -> None:
    players, judge = len(quality), consistent(quality)
    expected = played(players, leaders, judge).scores()
    tournament = Tournament(players, leaders)
    while calls := tournament.next():
        call = order.choice(calls)  # type: ignore[attr-defined]
        tournament.replies[call] = judge(*call)
    assert tournament.scores() == expected


@given(quality=qualities, order=st.randoms())
def test_permuted_responses_have_permuted_scores_where_all_are_compared(
    quality: list[float], order: st.DataObject
) -> None:
    players = list(range(len(quality)))
    order.shuffle(players)  # type: ignore[attr-defined]
    scores = played(len(players), len(players), consistent(quality)).scores()
    permuted = played(len(players), len(players), consistent([quality[i] for i in players])).scores()
    assert permuted == pytest.approx([scores[i] for i in players])


@given(quality=qualities, leaders=numbers_of_leaders)
def test_the_scores_are_in_the_unit_interval_and_the_best_response_leads(quality: list[float], leaders: int) -> None:
    scores = played(len(quality), leaders, consistent([100 * q for q in quality])).scores()
    assert all(score is not None and 0 <= score <= 1 for score in scores)
    best = scores[quality.index(max(quality))]
    assert best == max(score for score in scores if score is not None)


def test_a_tie_gives_both_half_and_no_order_decides_it() -> None:
    for judge in (lambda a, b: 0.5, lambda a, b: 0.9, lambda a, b: 0.1, lambda a, b: 0.505 if a < b else 0.497):
        tournament = played(5, 2, judge)
        assert set(tournament.outcomes().values()) == {0.5}
        assert tournament.scores() == [0.5] * 5


def test_a_mean_near_one_half_is_a_tie_and_a_clear_preference_is_not() -> None:
    assert win_probability(0.509, 0.505) == 0.5
    assert win_probability(0.52, 0.54) == pytest.approx(0.53)
    assert win_probability(0.99, 0.49) == 0.5, "the two orders contradict each other"
    assert win_probability(0.5, 0.9) == pytest.approx(0.7)


def test_unreadable_comparisons_are_left_out_and_a_response_without_any_other_has_no_score() -> None:
    def judge(a: int, b: int) -> float | None:
        return None if 2 in (a, b) else float(a < b)

    tournament = played(4, 2, judge)
    scores = tournament.scores()
    assert scores[2] is None
    assert scores[0] == 1.0
    assert [score for i, score in enumerate(scores) if i != 2] == sorted(
        (score for score in scores if score is not None), reverse=True
    )


def test_one_unreadable_order_makes_the_comparison_unreadable() -> None:
    tournament = played(2, 2, lambda a, b: 0.9 if a < b else None)
    assert (tournament.outcomes(), tournament.scores()) == ({(0, 1): None}, [None, None])


def test_where_nothing_is_readable_nobody_leads_and_only_the_ring_is_asked() -> None:
    tournament = played(8, 2, lambda a, b: None)
    assert len(tournament.replies) == 16
    assert tournament.scores() == [None] * 8


def test_a_response_without_an_opponent_is_asked_about_nothing() -> None:
    tournament = Tournament(1, 2)
    assert (tournament.next(), tournament.scores(), tournament.outcomes()) == ([], [0.5], {})


def test_replies_about_pairs_that_are_not_in_the_schedule_change_nothing() -> None:
    quality = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    tournament = played(7, 1, consistent(quality))
    scores, pairs = tournament.scores(), tournament.outcomes().keys()
    other: Pair = next((a, b) for a in range(7) for b in range(a + 1, 7) if (a, b) not in pairs)
    tournament.replies |= {other: 0.0, other[::-1]: 1.0}
    assert tournament.scores() == scores
