"""Densities: the binned estimate against the direct sum, and the paper's vote written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import steelyard as sy
from steelyard.voting.methods import configured
from steelyard.voting.score_weights import FLOOR, clipped_logit, density, silverman
from tests.building import Labelled, labelled


def _direct(z: NDArray[Any], at: NDArray[Any], h: float) -> NDArray[Any]:
    u = (at[:, None] - z[None, :]) / h
    return np.asarray(np.exp(-0.5 * u * u).sum(axis=1) / (len(z) * h * np.sqrt(2 * np.pi)))


@given(st.integers(0, 2**32 - 1), st.integers(2, 400), st.floats(0.05, 2.0))
def test_binned_log_density_is_within_3e_3_of_the_direct_sum(seed: int, size: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    z = np.clip(rng.normal(rng.normal(), spread, size), -6.23, 6.23)
    at = np.linspace(-6.2, 6.2, 501)
    exact = _direct(z, at, silverman(z))
    seen = exact > 1e-6
    estimate = density(z, -6.24, 6.24).log(at)
    assert np.abs(estimate[seen] - np.log(exact[seen])).max(initial=0) < 3e-3


def test_a_density_sums_to_one() -> None:
    rng = np.random.default_rng(0)
    f = density(rng.normal(0, 1, 500), -12.0, 12.0)
    grid = np.linspace(-12, 12, 20_001)
    assert np.trapezoid(np.exp(f.log(grid)), grid) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("z", [[0.3], [0.3, 0.3, 0.3], [-6.236, 6.236]])
def test_constant_and_lonely_scores_have_a_finite_density(z: list[float]) -> None:
    assert np.all(np.isfinite(density(np.array(z), -6.24, 6.24).log(np.linspace(-7, 7, 99))))


def test_the_kde_vote_is_the_formula_of_the_paper(cal: Labelled, test: Labelled) -> None:
    """Recompute w = log f1 - log f0 + log q - log(1 - q) + log(m - 1) response by response."""
    vote = sy.paper.KDEVote(reliability="printed").fit(cal)
    known = cal.readable
    z_cal, correct = clipped_logit(cal.known_scores[known]), cal.correct[known]
    p_cal = cal.known_scores[known]
    z = clipped_logit(test.known_scores)
    f1 = _direct(z_cal[correct], z, silverman(z_cal[correct])) + FLOOR
    f0 = _direct(z_cal[~correct], z, silverman(z_cal[~correct])) + FLOOR

    def g(p: float) -> float:
        same = np.minimum((p_cal * 10).astype(int), 9) == min(int(p * 10), 9)
        return float(correct[same].mean())

    weights = np.log(f1) - np.log(f0)
    for q in range(test.n_questions):
        rows = slice(test.starts[q], test.starts[q + 1])
        n = test.sizes[q]
        share = sum(g(p) for p, a in zip(test.known_scores[rows], test.answer[rows], strict=True) if a >= 0) / n
        q_m = min(max(share, 0.5 / n), 1 - 0.5 / n)
        weights[rows] += np.log(q_m) - np.log(1 - q_m) + np.log(max(test.m[q] - 1, 1))
    np.testing.assert_allclose(vote.weigh(test), weights, atol=3e-3)


def test_the_default_term_is_the_printed_one_kept_from_turning_negative(cal: Labelled, test: Labelled) -> None:
    printed = sy.paper.KDEVote(reliability="printed").fit(cal).llm_term(test)
    assert printed.min() < 0
    np.testing.assert_array_equal(sy.paper.KDEVote().fit(cal).llm_term(test), np.maximum(printed, 0))


def test_the_fitted_constant_shifts_every_weight_alike(cal: Labelled, test: Labelled) -> None:
    vote = sy.paper.KDEVote(reliability="fitted").fit(cal)
    np.testing.assert_allclose(vote.weigh(test), vote.prm_term(test) - vote.offset_, atol=1e-9)
    plain = sy.paper.KDEVote().fit(cal)
    assert vote.weight(0.5) == pytest.approx(plain.weight(0.5) - vote.offset_)


def test_the_printed_optimal_vote_beats_majority_on_noise_and_the_crossfit_one_does_not() -> None:
    """The leak: with shuffled scores there is nothing to learn, yet the printed oracle gains ten points."""
    pool = labelled(sy.simulate(600, 32, seed=0)).with_shuffled_scores(seed=1)
    names = ("majority", "optimal", "optimal-crossfit")
    got = {name: float(sy.accuracy(sy.method_class(name)().predict(pool), pool)) for name in names}
    assert got["optimal"] - got["majority"] > 0.1
    assert abs(got["optimal-crossfit"] - got["majority"]) < 0.04


def test_the_ablations_replace_one_term_each(cal: Labelled, test: Labelled) -> None:
    kde, optimal = sy.paper.KDEVote(reliability="printed").fit(cal), sy.paper.OptimalVote()
    llm = sy.method_class("kde-optimal-llm")().fit(cal)
    prm = configured("kde-optimal-prm", {"reliability": "printed"}).fit(cal)
    np.testing.assert_allclose(llm.weigh(test) + prm.weigh(test), kde.weigh(test) + optimal.weigh(test), atol=1e-9)


def test_the_printed_oracle_uses_each_questions_own_densities_and_accuracy(test: Labelled) -> None:
    """Recompute the weights of one question with both classes from the formula."""
    pool = test.take([int(np.flatnonzero((test.m > 1) & (np.add.reduceat(test.correct, test.starts[:-1]) > 3))[0])])
    z, correct = clipped_logit(pool.known_scores), pool.correct
    use = pool.readable
    f = [
        _direct(z[use & (correct == c)], z, max(silverman(z[use & (correct == c)]), 0.1)) + FLOOR for c in (False, True)
    ]
    q_m = correct.mean()
    odds = np.log(q_m / (1 - q_m)) + np.log(pool.m[0] - 1)
    np.testing.assert_allclose(sy.paper.OptimalVote().weigh(pool)[use], (np.log(f[1]) - np.log(f[0]) + odds)[use])


def test_the_crossfit_oracle_never_scores_a_response_with_a_density_that_saw_it(test: Labelled) -> None:
    """Changing the score and label of one response leaves the PRM terms of its own half alone."""
    from dataclasses import replace

    from steelyard.voting.fitting.llm_reliability import question_ratio

    before = question_ratio(test, clip=2**-9, crossfit=True)
    scores = np.array(test.known_scores)
    scores[::16] = 0.5  # the first sample of every question, an even one
    after = question_ratio(replace(test, scores=scores), clip=2**-9, crossfit=True)
    even = (np.arange(test.n_responses) - np.repeat(test.starts[:-1], test.sizes)) % 2 == 0
    others = even & (scores == test.known_scores)
    np.testing.assert_array_equal(before[others], after[others])
    assert not np.array_equal(before[~even], after[~even])


def test_the_fitted_constant_reaches_the_majority_vote() -> None:
    """On noise the best constant is the limit: one vote a response, and every score worth the same."""
    limits = 0
    for seed in range(8):
        pool = labelled(sy.simulate(30, 8, seed=seed, world=sy.testing.World(gap=0.0, inconsistency=2.0)))
        vote = sy.paper.KDEVote(reliability="fitted").fit(pool)
        if np.isinf(vote.offset_):
            limits += 1
            assert vote.weight(0.5) == 1.0
            assert np.array_equal(vote.predict(pool).code, sy.MajorityVote().predict(pool).code)
    assert limits > 0
