"""The parts of a committee's fit against what they are defined as."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.voting.fitting.source_reliability import joint_weights, mean_correlation, shrunk_chances
from steelyard.voting.fitting.source_votes import SourceVotes, agreement, likelihood
from tests.committees import committee, pool


def votes_of(labelled: sy.LabelledPool, z: np.ndarray[tuple[int], np.dtype[np.float64]] | None = None) -> SourceVotes:
    assert labelled.source is not None
    return SourceVotes.of(labelled, labelled.source, len(labelled.sources), z)


@pytest.mark.parametrize("scored", [False, True])
def test_the_likelihood_is_that_of_a_softmax_and_its_slopes_are_its_differences(scored: bool) -> None:
    some = pool(committee({"a": 0.7, "b": 0.5, "c": 0.4}, 12, samples={"b": 3}))
    rng = np.random.default_rng(0)
    votes = votes_of(some, rng.normal(size=some.n_responses) if scored else None)
    theta = rng.normal(size=votes.size)
    value, gradient, hessian = likelihood(votes, theta)
    plain = 0.0
    for q in range(some.n_questions):
        rows = range(some.starts[q], some.starts[q + 1])
        u = dict[int, float]()
        for i in rows:
            adds = theta[votes.voter[i]] * votes.unit[i]
            adds += theta[3 + votes.voter[i]] * votes.evidence[i] if scored else 0.0
            u[int(some.answer[i])] = u.get(int(some.answer[i]), 0.0) + adds
        right = {int(some.answer[i]) for i in rows if some.correct[i]}
        if right:
            plain += np.log(sum(np.exp(u[k]) for k in right) / sum(np.exp(x) for x in u.values()))
    assert value == pytest.approx(plain)
    step = 1e-5 * np.eye(votes.size)
    slopes = [(likelihood(votes, theta + d)[0] - likelihood(votes, theta - d)[0]) / 2e-5 for d in step]
    assert gradient == pytest.approx(np.array(slopes), abs=1e-5)
    curves = [(likelihood(votes, theta - d)[1] - likelihood(votes, theta + d)[1]) / 2e-5 for d in step]
    assert np.array(curves) == pytest.approx(hessian, abs=1e-4)


def test_agreement_is_with_the_vote_of_the_others_alone() -> None:
    three = sy.Pool.from_arrays(question=[0, 0, 0], answer=[1, 1, 2], source=["a", "b", "c"])
    assert three.source is not None
    found, _ = agreement(SourceVotes.of(three, three.source, 3), np.array([1.0, 1.0, 5.0]))
    assert found.tolist() == [[0.0, 0.0, 0.0]]  # without c it is 1, but c says 2; without a or b it is 2
    found, _ = agreement(SourceVotes.of(three, three.source, 3), np.array([2.0, 1.0, 1.0]))
    assert found.tolist() == [[0.5, 1.0, 0.0]]  # without a, 1 and 2 are tied


@given(st.lists(st.floats(0.05, 0.95), min_size=2, max_size=8), st.floats(0.05, 0.9), st.floats(0.0, 0.9), st.randoms())
def test_joint_weights_are_the_best_of_all_that_are_not_negative(
    p: list[float], same_error: float, correlation: float, random: object
) -> None:
    chances = np.array(p)
    z = np.log(chances / (1 - chances)) - np.log(same_error)
    weights = joint_weights(chances, same_error, correlation)
    assert (weights >= 0).all()
    if not (z > 1e-3).any():
        return
    together = (1 - correlation) * np.eye(len(p)) + correlation

    def merit(w: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        return float(w @ z / np.sqrt(w @ together @ w))

    rng = np.random.default_rng(0)
    for _ in range(20):
        other = np.maximum(weights + rng.normal(0, 0.3, len(p)), 0.0)
        if other.any():
            assert merit(other) <= merit(weights) + 1e-9


def test_the_correlation_of_voices_is_that_of_their_columns() -> None:
    rng = np.random.default_rng(0)
    hard = rng.normal(size=500)
    right = (rng.normal(size=(500, 4)) + hard[:, None] > 0).astype(float)
    expected = np.corrcoef(right.T)[np.triu_indices(4, 1)].mean()
    assert mean_correlation(right, np.ones_like(right)) == pytest.approx(expected, abs=0.01)


def test_chances_with_few_labels_keep_close_to_the_prior() -> None:
    prior = np.array([0.8, 0.5, 0.3])
    none = shrunk_chances(np.zeros(3), np.zeros(3), prior, 100)
    assert none == pytest.approx(prior)
    some = shrunk_chances(np.array([70.0, 10.0, 0.0]), np.array([100.0, 20.0, 0.0]), prior, 0)
    assert abs(some[0] - 0.7) < 0.01
