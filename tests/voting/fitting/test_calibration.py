"""Where the offset goes: the exact rule against brute force, the limits, the other rules."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import steelyard as sy
from steelyard.voting.fitting.offset_curve import Curve, Lines, intervals, lines
from steelyard.voting.fitting.offset_rules import bagged, grid, likelihood, likelihood_with_slope
from steelyard.voting.methods.base.offset_vote import RULES
from steelyard.voting.score_weights import clipped_logit, shifted
from steelyard.voting.tally import quantize
from tests.building import Labelled, labelled, make, pools


def _lines(pool: Labelled) -> Lines:
    return lines(pool, _evidence(pool), pool.known_scores)


def _evidence(pool: Labelled) -> NDArray[np.float64]:
    return np.where(np.isnan(pool.known_scores), 0.5, pool.known_scores)


def _votes_right(pool: Labelled, beta: float) -> int:
    """How many questions the real vote answers right with the weights z - beta."""
    return int(sy.evaluation.tally(pool, shifted(_evidence(pool), beta)).correct(pool).sum())


def _between(curve: Curve) -> list[float]:
    """A point inside every step of the curve."""
    edges = [float(edge) for edge in curve.edges]
    if not edges:
        return [0.0]
    inside = [(a + b) / 2 for a, b in itertools.pairwise(edges)]
    return [edges[0] - 1, *inside, edges[-1] + 1]


@given(pools())
def test_the_exact_curve_is_what_voting_at_every_offset_gives(pool: Labelled) -> None:
    curve = intervals(_lines(pool)).curve()
    assert [int(c) for c in curve.correct] == [_votes_right(pool, beta) for beta in _between(curve)]


@given(pools())
def test_no_offset_below_the_largest_score_beats_the_exact_optimum(pool: Labelled) -> None:
    curve = intervals(_lines(pool)).curve()
    tried = np.append(np.linspace(-9, curve.top, 400, endpoint=False) if curve.top > -np.inf else [], -np.inf)
    on_an_edge = np.isin(tried, curve.edges)  # there ties decide, not the curve
    assert curve.best >= max(_votes_right(pool, beta) for beta in tried[~on_an_edge])


@given(pools(), st.lists(st.integers(-128, 192).map(lambda i: i / 64), min_size=1, max_size=8))
def test_counting_lines_is_voting_also_on_ties_and_at_the_limits(pool: Labelled, betas: list[float]) -> None:
    points = [*betas, -np.inf, np.inf]
    assert _lines(pool).correct_at(points).sum(axis=1).tolist() == [_votes_right(pool, beta) for beta in points]


@given(pools(), st.booleans())
def test_voting_at_the_chosen_point_answers_the_most_questions(pool: Labelled, in_logits: bool) -> None:
    """Also at the majority limit, where ties go by summed score and not by summed evidence."""
    z = quantize(clipped_logit(_evidence(pool))) if in_logits else _evidence(pool)
    curve = intervals(lines(pool, z, pool.known_scores)).curve()
    assert curve.chosen < np.inf
    correct = sy.evaluation.tally(pool, shifted(z, float(quantize(curve.chosen)))).correct(pool).sum()
    assert correct == curve.best
    assert curve.at(curve.chosen) == correct / pool.n_questions


def test_a_limit_that_would_break_ties_the_wrong_way_is_not_taken() -> None:
    """Two against two: 0.6 + 0.6 beats 0.99 + 0.15 in scores, but not in logits."""
    rows = [(q, a, p, a == 1) for q in range(12) for a, p in ((0, 0.6), (0, 0.6), (1, 0.99), (1, 0.15))]
    vote = sy.LogitVote(rule="exact").fit(make(rows))
    assert vote.fitted_on_ is not None
    assert vote.fitted_on_.accuracy == 1.0


@pytest.mark.parametrize("kind", [sy.LogitVote, sy.paper.LinearVote])
def test_no_rule_but_the_papers_grid_lets_fewer_votes_win(kind: type[sy.LogitVote]) -> None:
    """With equal scores and a majority that is mostly wrong, the vote is still the majority's."""
    for seed in range(6):
        table = sy.simulate(100, 4, seed=seed, world=sy.testing.World(easy_share=0.0, dominating=1.0))
        pool = labelled(table.with_columns(score=pl.lit(0.7)))
        vote = kind().fit(pool)
        assert vote.offset_ == -np.inf
        assert np.array_equal(vote.predict(pool).code, sy.MajorityVote().predict(pool).code)


def test_the_order_of_the_file_does_not_change_a_fit() -> None:
    table = sy.simulate(60, 8, seed=2)
    mixed = table.sample(fraction=1, shuffle=True, seed=3)
    for name in ("linear", "logit", "kde"):
        one, two = (sy.method_class(name)().fit(labelled(t)).learned() for t in (table, mixed))
        for key in one:
            a, b = ([*item[key].values()] if isinstance(item[key], dict) else item[key] for item in (one, two))
            np.testing.assert_allclose(a, b, rtol=1e-6)
    parts = [[part.questions.to_list() for part in labelled(t).split(0.3, seed=1)] for t in (table, mixed)]
    assert parts[0] == parts[1]


def test_a_question_with_two_correct_answers_counts_once_at_most() -> None:
    pool = make([(0, 0, 0.9, True), (0, 1, 0.4, True), (0, 1, 0.4, True), (0, 2, 0.1, False)])
    assert set(intervals(_lines(pool)).curve().correct.tolist()) <= {0, 1}


def test_the_curve_of_one_question_read_by_hand() -> None:
    # right: one vote, 0.75; wrong: two votes, 0.25 each. Right wins where 0.75 - b > 0.5 - 2b: b > -0.25.
    pool = make([(0, 0, 0.75, True), (0, 1, 0.25, False), (0, 1, 0.25, False)])
    curve = intervals(_lines(pool)).curve()
    assert curve.edges.tolist() == [-0.25]
    assert curve.correct.tolist() == [0, 1]
    assert curve.optimal == [(-0.25, 0.75)]  # beyond the largest score every weight is negative
    assert curve.chosen == 0.25


@pytest.mark.parametrize("kind", [sy.LogitVote, sy.paper.LinearVote])
def test_the_majority_limit_is_reached_without_overflow(kind: type[sy.LogitVote]) -> None:
    """Where the verifier is turned upside down the best offset is the limit: ignore it."""
    table = sy.simulate(80, 8, seed=3, world=sy.testing.World(gap=-6.0, easy_share=1.0))
    pool = labelled(table)
    vote = kind(rule="exact").fit(pool)
    assert vote.offset_ == -np.inf
    assert vote.b == (0.0 if kind is sy.LogitVote else -np.inf)
    assert vote.weight(0.1) == vote.weight(0.9) == 1.0
    assert np.array_equal(vote.predict(pool).code, sy.MajorityVote().predict(pool).code)


def test_the_grid_reaches_the_majority_vote_at_b_zero() -> None:
    table = sy.simulate(80, 8, seed=3, world=sy.testing.World(gap=-6.0, easy_share=1.0))
    vote = sy.LogitVote(rule="grid").fit(labelled(table))
    assert vote.b == 0.0


@pytest.mark.parametrize("kind", [sy.LogitVote, sy.paper.LinearVote])
def test_exact_is_never_worse_than_a_grid_on_the_calibration_set(kind: type[sy.LogitVote]) -> None:
    for seed in range(5):
        pool = labelled(sy.simulate(100, 16, seed=seed))
        found = {rule: kind(rule=rule).fit(pool) for rule in ("exact", "grid")}
        correct = {rule: vote.predict(pool).correct(pool).sum() for rule, vote in found.items()}
        assert correct["exact"] >= correct["grid"]


def test_all_rules_are_stored_and_the_chosen_one_votes(cal: Labelled) -> None:
    for rule in RULES:
        vote = sy.LogitVote(rule=rule).fit(cal)
        assert vote.offset_ == pytest.approx(vote.offsets_[rule], abs=1e-9)
        assert vote.weight(vote.b) == pytest.approx(0, abs=1e-9)


def test_the_grid_takes_the_first_best_point(cal: Labelled) -> None:
    found = _lines(cal)
    points = np.linspace(-1, 1, 41)
    count = found.correct_at(points).sum(axis=1)
    assert grid(found, points) == points[np.flatnonzero(count == count.max())[0]]


def test_bagging_is_the_mean_of_optima_of_resampled_questions(cal: Labelled) -> None:
    wins = intervals(_lines(cal))
    rng = np.random.default_rng(5)
    chosen = []
    for _ in range(30):
        times = rng.multinomial(cal.n_questions, np.full(cal.n_questions, 1 / cal.n_questions))
        again = cal.take(np.repeat(np.arange(cal.n_questions), times))
        chosen.append(intervals(_lines(again)).curve().chosen)
    assert bagged(wins, cal.rank, bags=30, seed=5) == pytest.approx(np.mean(chosen), abs=1e-9)


def test_bagging_goes_to_the_limit_when_half_of_the_bags_do() -> None:
    pool = make([(q, 0, 0.1, True) for q in range(20)])  # one answer each: every offset is as good
    assert bagged(intervals(_lines(pool)), pool.rank) == -np.inf


def test_the_likelihood_offset_is_a_maximum(cal: Labelled) -> None:
    found = lines(cal, np.asarray(cal.known_scores, np.float64) * 4 - 2, cal.known_scores)

    def log_likelihood(slope: float, beta: float) -> float:
        total = 0.0
        for a, b in itertools.pairwise(found.offsets):
            t = slope * found.s[a:b] - beta * found.n[a:b]
            correct = found.correct[a:b]
            if correct.any() and not correct.all():
                total += np.logaddexp.reduce(t[correct]) - np.logaddexp.reduce(t)
        return total

    beta = likelihood(found)
    assert all(log_likelihood(1, beta) >= log_likelihood(1, beta + d) for d in (-0.1, -1e-3, 1e-3, 0.1))
    slope, ratio = likelihood_with_slope(found)
    best = log_likelihood(slope, slope * ratio)
    for ds, db in itertools.product((-0.01, 0, 0.01), repeat=2):
        assert best >= log_likelihood(slope + ds, slope * ratio + db) - 1e-9
    assert best >= log_likelihood(1, beta)


@given(pools())
def test_the_likelihood_rule_always_ends_with_a_number_or_a_limit(pool: Labelled) -> None:
    assert not np.isnan(likelihood(_lines(pool)))
    assert not any(np.isnan(value) for value in likelihood_with_slope(_lines(pool)))


def test_bad_settings_are_named(cal: Labelled) -> None:
    for method, word in (
        (sy.LogitVote(rule="exakt"), "did you mean 'exact'"),
        (sy.LogitVote(points=1), "points"),
        (sy.LogitVote(clip=0.0), "clip"),
        (sy.paper.KDEVote(bandwidth=0.0), "bandwidth"),
        (sy.paper.KDEVote(bins=0), "bins"),
        (sy.paper.KDEVote(bandwidth=1e-4), "bandwidth"),
        (sy.LogitVote(seed=-1), "seed"),
        (sy.paper.OptimalVote(clip=0.9), "clip"),
        (sy.paper.KDEVote(clip=0.7), "clip"),
        (sy.paper.KDEVote(reliability="floord"), "did you mean 'floored'"),
    ):
        with pytest.raises(sy.SettingError, match=word):
            method.fit(cal)
