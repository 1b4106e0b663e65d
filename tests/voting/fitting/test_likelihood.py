"""The conditional logit, against the formula written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from steelyard.voting import kernels


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 8))
def test_the_likelihood_of_the_right_answers_with_its_slope_and_bend(seed: int, features: int, questions: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, questions)
    starts = np.cumsum(sizes) - sizes
    x, theta = rng.normal(size=(sizes.sum(), features)), rng.normal(size=features) * 2
    correct = rng.random(len(x)) < 0.5
    correct[starts] |= ~np.logical_or.reduceat(correct, starts)  # every question has a correct answer

    def at(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        slope, bend = np.zeros(features), np.zeros((features, features))
        return kernels.log_likelihood(starts, x, correct, theta, slope, bend), slope, bend

    value, slope, bend = at(theta)
    shares = [np.exp(t - np.logaddexp.reduce(t)) for t in np.split(x @ theta, starts[1:])]
    truth = np.split(correct, starts[1:])
    assert value == pytest.approx(sum(np.log(p[r].sum()) for p, r in zip(shares, truth, strict=True)), abs=1e-9)
    rows = np.split(x, starts[1:])
    spread = [(row.T * p) @ row - np.outer(p @ row, p @ row) for p, row in zip(shares, rows, strict=True)]
    assert bend == pytest.approx(np.sum(spread, axis=0), abs=1e-9)
    for i in range(features):
        aside = np.eye(features)[i] * 1e-6
        assert slope[i] == pytest.approx((at(theta + aside)[0] - at(theta - aside)[0]) / 2e-6, abs=1e-4)


def test_a_likelihood_far_beyond_what_exp_holds_is_finite() -> None:
    slope, bend = np.zeros(1), np.zeros((1, 1))
    x, correct = np.array([[0.0], [1e6]]), np.array([True, False])
    value = kernels.log_likelihood(np.array([0]), x, correct, np.ones(1), slope, bend)
    assert np.isfinite(value)
    assert np.isfinite(slope).all()
    assert np.isfinite(bend).all()
