"""Totals and votes packed into one integer give the verdicts of floats, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.voting.kernels import winners

FIELDS = ("code", "total", "margin", "positive", "votes", "cast")
SCALES = (0.0, 2.0**-40, 2.0**-11, 2.0**-10, 2.0**-9, 0.3, 1.0, 15.9, 16.0, 1e4, 2.0**15, 1e6, 1e300)


def with_floats(pool: sy.Pool, weights: Any) -> list[Any]:
    size, widest = pool.n_questions, int(pool.width.max())
    written = [np.full(size, -1, np.int32), *np.zeros((3, size)), *np.zeros((2, size), np.int64)]
    spare = (np.zeros(widest), np.zeros(widest, np.int64), np.zeros(widest))
    scores = pool.scores if pool.scores is not None else np.empty(0)
    for q in range(size):
        winners._with_floats(np.uint64(q), pool.starts, pool.width, pool.answer, weights, scores, *spare, *written)
    return written


def assert_same(pool: sy.Pool, weights: Any) -> None:
    found = sy.evaluation.tally(pool, weights)
    for name, expected in zip(FIELDS, with_floats(pool, weights), strict=True):
        np.testing.assert_array_equal(getattr(found, name), expected, err_msg=name)


@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    scales=st.lists(st.sampled_from(SCALES), min_size=1, max_size=3),
    unreadable=st.sampled_from((0.0, 0.3, 1.0)),
    whole=st.booleans(),
)
def test_any_weights(seed: int, sizes: list[int], scales: list[float], unreadable: float, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = sum(sizes)
    answer = np.where(rng.random(rows) < unreadable, -1, rng.integers(0, 6, rows)).astype(np.int32)
    weights = rng.integers(-2, 3, rows).astype(float) if whole else rng.standard_normal(rows)  # whole ones often tie
    weights *= rng.choice(scales, rows)
    pool = sy.Pool.from_arrays(question=np.repeat(np.arange(len(sizes)), sizes), answer=answer, scores=rng.random(rows))
    assert_same(pool, weights)


@pytest.mark.parametrize("size", [2046, 2047, 2048, 5000])
@pytest.mark.parametrize("weight", [-15.9999, 15.9999, 2.0**-9])
def test_as_many_and_as_large_as_fit_and_more(size: int, weight: float) -> None:
    answer = (np.arange(size) % 3 == 0).astype(np.int32)
    pool = sy.Pool.from_arrays(question=np.zeros(size, int), answer=answer)
    assert_same(pool, np.full(size, weight))


def test_the_weight_of_an_unreadable_answer_does_not_coarsen_the_others() -> None:
    pool = sy.Pool.from_arrays(question=[0, 0, 0], answer=[-1, 0, 1])
    found = sy.evaluation.tally(pool, [1.0, 2.0**-40, 2.0**-39])
    assert (found.code[0], found.total[0], found.cast[0]) == (1, 2.0**-39, 2)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_weights_that_are_not_finite_are_refused(bad: float) -> None:
    pool = sy.Pool.from_arrays(question=[0, 0, 1, 1], answer=[0, 1, 0, 0])
    with pytest.raises(sy.SteelyardError, match="weights must be finite"):
        sy.evaluation.tally(pool, [1.0, 1.0, bad, 1.0])
