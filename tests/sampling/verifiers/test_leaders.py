"""Which pairs a judge compares: the leaders with all others, bounded, each pair once, whatever the order of replies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from steelyard.sampling.verifiers.leaders import LeaderComparisons
from steelyard.sampling.verifiers.tournament import Pair

Matrix = NDArray[np.float64]


def matrices(seed: int, n: int) -> tuple[Matrix, Matrix, list[int]]:
    """Similarities by words and by the judge, and the votes, of random groups of texts."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, rng.integers(1, n + 1), n)
    judge = np.where(group[:, None] == group, 0.9, 0.05) + np.triu(rng.random((n, n)), 1) * 0.05
    judge = np.triu(judge, 1) + np.triu(judge, 1).T + np.eye(n)
    tokens = np.round(np.triu(rng.random((n, n)), 1) * 2**16) / 2**16
    return tokens + tokens.T + np.eye(n), judge, rng.integers(1, 4, n).tolist()


def requested_by(schedule: LeaderComparisons, judge: Matrix, rng: np.random.Generator) -> list[Pair]:
    """Answer all requests, in random order and only some at a time."""
    requested: list[Pair] = []
    while calls := schedule.next():
        some = rng.permutation(len(calls))[: rng.integers(1, len(calls) + 1)]
        for a, b in (calls[i] for i in some):
            requested.append((a, b))
            schedule.replies[a, b] = judge[a, b]
    return requested


@given(seed=st.integers(0, 10_000), n=st.integers(1, 12), leaders=st.integers(1, 5))
def test_no_pair_is_requested_twice_and_the_number_is_within_its_bounds(seed: int, n: int, leaders: int) -> None:
    tokens, judge, votes = matrices(seed, n)
    schedule = LeaderComparisons(votes, leaders, lambda: tokens)
    low, high = schedule.comparison_range()
    requested = requested_by(schedule, judge, np.random.default_rng(seed))
    assert len(requested) == len(set(requested)) == 2 * len(schedule.outcomes())
    assert low <= len(schedule.outcomes()) <= high <= n * (n - 1) // 2
    assert all((b, a) in requested for a, b in requested)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 12))
def test_the_pairs_do_not_depend_on_the_order_of_replies_or_on_a_restart(seed: int, n: int) -> None:
    tokens, judge, votes = matrices(seed, n)
    first, second = (LeaderComparisons(votes, 3, lambda: tokens) for _ in range(2))
    requested_by(first, judge, np.random.default_rng(seed))
    requested = requested_by(second, judge, np.random.default_rng(seed + 1))
    assert first.outcomes() == second.outcomes()
    half = LeaderComparisons(votes, 3, lambda: tokens, {pair: judge[pair] for pair in requested[: len(requested) // 2]})
    assert sorted(requested_by(half, judge, np.random.default_rng(2))) == sorted(requested[len(requested) // 2 :])


@given(seed=st.integers(0, 10_000), n=st.integers(2, 10))
def test_the_winner_was_compared_with_all_others_and_no_unlike_group_could_overtake_it(seed: int, n: int) -> None:
    tokens, judge, votes = matrices(seed, n)
    schedule = LeaderComparisons(votes, n, lambda: tokens)
    requested_by(schedule, judge, np.random.default_rng(seed))
    mixed = tokens.copy()
    for (a, b), p in schedule.outcomes().items():
        assert p is not None
        mixed[a, b] = mixed[b, a] = p
    totals = mixed @ votes
    winner = int(np.argmax(np.round(totals, 3)))
    judged = schedule.judged()
    assert any(len(judged[k]) == n - 1 for k in np.flatnonzero(totals > totals.max() - 0.01))
    leaders = [k for k in range(n) if len(judged[k]) == n - 1]
    unlike = (mixed[leaders] < 0.5).all(axis=0)
    assert (np.array(votes) * unlike).sum() <= totals[winner] + 0.01


def test_one_text_needs_no_comparison_and_two_need_one() -> None:
    assert LeaderComparisons([5], 4, lambda: np.ones((1, 1), np.float32)).next() == []
    two = LeaderComparisons([2, 1], 4, lambda: np.eye(2, dtype=np.float32))
    assert (two.next(), two.comparison_range()) == ([(0, 1), (1, 0)], (1, 1))


@pytest.mark.parametrize(("n", "leaders", "expected"), [(64, 4, (63, 246)), (8, 4, (7, 22)), (4, 4, (3, 6))])
def test_64_responses_take_at_most_246_of_2016_comparisons(n: int, leaders: int, expected: Pair) -> None:
    assert LeaderComparisons([1] * n, leaders, lambda: np.eye(n, dtype=np.float32)).comparison_range() == expected


def test_when_all_mean_the_same_one_leader_is_enough() -> None:
    schedule = LeaderComparisons([1] * 64, 4, lambda: np.eye(64, dtype=np.float32))
    requested_by(schedule, np.full((64, 64), 0.97), np.random.default_rng(0))
    assert len(schedule.outcomes()) == 63


def test_ties_and_unreadable_pairs_are_counted_and_unreadable_ones_keep_their_words() -> None:
    replies: dict[Pair, float | None] = {
        (0, 1): 0.9, (1, 0): 0.2, (0, 2): 0.505, (2, 0): 0.5, (0, 3): 0.9, (3, 0): None, (0, 4): 0.9, (4, 0): 0.8,
    }  # fmt: skip
    schedule = LeaderComparisons([1] * 5, 1, lambda: np.eye(5, dtype=np.float32), replies)
    assert schedule.next() == []
    assert schedule.outcomes() == {(0, 1): 0.55, (0, 2): 0.5025, (0, 3): None, (0, 4): 0.85}
    assert schedule.ties() == 2
    assert schedule.judged() == [{1: 0.55, 2: 0.5025, 4: 0.85}, {0: 0.55}, {0: 0.5025}, {}, {0: 0.85}]
