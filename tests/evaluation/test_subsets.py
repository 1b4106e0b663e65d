"""Votes on random subsets: adding is voting, and the sd is that of the resamples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import steelyard as sy
from steelyard.evaluation import random_subsets as resampling
from steelyard.evaluation.random_subsets import count_by_adding, count_by_voting
from steelyard.evaluation.subset_accuracy import correct_shares
from steelyard.voting.methods import configured
from tests.building import Labelled, labelled, make, pools


@dataclass(repr=False)
class Shifted(sy.Method):
    """w = size * (p - b): weights of any size, ties and zeros included; a missing score weighs 0."""

    b: float = 0.5
    size: float = 1.0

    def weigh(self, pool: sy.Pool) -> NDArray[np.float64]:
        p = np.asarray(pool.known_scores, np.float64)
        return np.where(np.isnan(p), 0.0, (p - self.b) * self.size)

    def by_response(self) -> bool:
        return True


def keys_of(pool: sy.Pool, seed: int) -> NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(2**64, size=pool.n_questions, dtype=np.uint64)


SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=5, unique=True).map(lambda sizes: np.array(sorted(sizes)))
SCALES = (1.0, 0.0, 1e-12, 2.0**-11, 2.0**16, 1e9)


@given(pools(responses=9), SIZES, st.integers(0, 99), st.sampled_from((1.0, 1e-13, 2.0**-10)))
def test_adding_is_voting_bit_for_bit(pool: Labelled, sizes: Any, seed: int, scale: float) -> None:
    """Ties, unreadable answers, unequal sizes, missing and tiny scores, weights of all sizes, another at each n."""
    pool = replace(pool, scores=pool.known_scores * scale)
    vanilla = sy.VanillaVote()
    vanilla.prior_ = 0.25
    fixed = [sy.MajorityVote(), vanilla, sy.paper.PassAtN(), *(Shifted(0.5, size) for size in SCALES)]
    voters = [[*fixed, Shifted(n / 8, 1.0), Shifted(scale * n / 8, 2.0**-10), None] for n in sizes.tolist()]
    voters[0][1] = None
    keys = keys_of(pool, seed)
    hits = count_by_adding(voters, pool, sizes, keys, 4)
    assert np.array_equal(hits, count_by_voting(voters, pool, sizes, keys, 4))
    assert not hits[..., -1].any()


@pytest.mark.long
@given(pools(responses=9, missing=False), SIZES, st.integers(0, 99))
def test_adding_is_voting_where_all_scores_are_equal_or_there_are_none(pool: Labelled, sizes: Any, seed: int) -> None:
    voters = [[sy.MajorityVote()]] * len(sizes)
    keys = keys_of(pool, seed)
    for scores in (np.full(pool.n_responses, 0.5), pool.known_scores.astype(np.float32), None):
        other = replace(pool, scores=scores)
        assert np.array_equal(
            count_by_adding(voters, other, sizes, keys, 3), count_by_voting(voters, other, sizes, keys, 3)
        )


def test_fitted_methods_are_added_as_they_vote(cal: Labelled, test: Labelled) -> None:
    rng = np.random.default_rng(0)
    coarse = replace(test, scores=np.where(rng.random(test.n_responses) < 0.1, np.nan, test.known_scores.round(1)))
    methods = [
        sy.MajorityVote(),
        sy.VanillaVote(),
        sy.paper.LinearVote(),
        sy.LogitVote(),
        sy.paper.KDEVote(reliability="fitted"),
    ]
    sizes = np.array([1, 2, 3, 8, 15])
    voters = [[type(m)(**m.settings()).fit(cal, n=n) for m in methods] for n in sizes.tolist()]
    assert all(m.independent_weights() for row in voters for m in row)
    keys = keys_of(coarse, 0)
    hits = count_by_adding(voters, coarse, sizes, keys, 20)
    assert np.array_equal(hits, count_by_voting(voters, coarse, sizes, keys, 20))


def test_threads_blocks_tasks_and_batches_change_nothing(test: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = np.array([2, 8])
    voters = [[sy.MajorityVote(), Shifted(n / 16)] for n in sizes]
    keys = keys_of(test, 0)
    told: list[float] = []
    once = count_by_adding(voters, test, sizes, keys, 7, threads=1)
    voted = count_by_voting(voters, test, sizes, keys, 7)
    monkeypatch.setattr(resampling, "MAX_WEIGHTS", 1000)
    monkeypatch.setattr(resampling, "A_TASK", 300)
    monkeypatch.setattr(resampling, "AT_ONCE", 2 * test.n_responses)
    again = count_by_adding(voters, test, sizes, keys, 7, threads=3, progress=told.append)
    assert np.array_equal(once, again)
    assert np.array_equal(voted, count_by_voting(voters, test, sizes, keys, 7, threads=3))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 10


def test_every_permutation_of_a_question_is_as_likely_as_any_other() -> None:
    pool = make([(0, a, 0.5, False) for a in range(4)])
    drawn = pool.resampled(keys_of(pool, 0), 0, 24_000).answer.reshape(-1, 4)
    _, count = np.unique(drawn @ [64, 16, 4, 1], return_counts=True)
    assert len(count) == 24
    assert ((count - 1000) ** 2 / 1000).sum() < 49.7  # chi-square, 23 degrees, 0.1 %
    later = pool.resampled(keys_of(pool, 0), 23_990, 10).answer.reshape(-1, 4)
    assert np.array_equal(later, drawn[23_990:])


def test_a_method_that_weighs_in_its_own_way_does_not_inherit_that_its_weights_hold_in_every_subset() -> None:
    class Own(sy.MajorityVote):
        def weigh(self, pool: sy.Pool) -> NDArray[np.float64]:
            return np.asarray(pool.spread(pool.m), np.float64)

    assert sy.MajorityVote().independent_weights()
    assert sy.paper.PassAtN().independent_weights()
    assert not Own().independent_weights()
    assert not sy.paper.KDEVote().independent_weights()
    assert not sy.VanillaVote().independent_weights()  # never fitted: a missing score weighs the mean of its question
    assert not configured("kde-optimal-prm", {"reliability": "fitted"}).independent_weights()


def test_weights_that_are_not_finite_are_refused(test: Labelled) -> None:
    sizes = np.array([2])
    with pytest.raises(sy.SettingError, match="not finite"):
        count_by_adding([[Shifted(-np.inf)]], test, sizes, keys_of(test, 0), 2)


def test_one_sample_and_all_samples_are_exact(cal: Labelled, test: Labelled) -> None:
    methods = [sy.method_class(name)().fit(cal) for name in sy.method_names()]
    share, sd = correct_shares([methods, methods], test, np.array([1, 16]), resamples=1, seed=0)
    each = np.array([part.mean() for part in np.split(test.correct, test.starts[1:-1])])
    assert np.array_equal(share[:, 0], np.repeat(each[:, None], len(methods), axis=1))
    for k, method in enumerate(methods):
        assert np.array_equal(share[:, 1, k], method.predict(test).correct(test))
    assert sd[0] == pytest.approx(np.sqrt((each * (1 - each)).sum()) / test.n_questions)
    assert not sd[1].any()


def test_the_sd_over_resamples_is_that_of_the_resampled_accuracies(cal: Labelled, test: Labelled) -> None:
    methods = [sy.MajorityVote().fit(cal), sy.paper.KDEVote().fit(cal)]
    sizes = np.array([4])
    _, sd = correct_shares([methods], test, sizes, resamples=300, seed=3)
    pool = test.resampled(keys_of(test, 1), 0, 1000).first(4)
    for k, method in enumerate(methods):
        accuracy = method.predict(pool).correct(pool).reshape(1000, -1).mean(axis=1)
        assert sd[0, k] == pytest.approx(accuracy.std(ddof=1), rel=0.1)
    assert np.isnan(correct_shares([methods], test, sizes, resamples=1, seed=3)[1]).all()
    assert np.isnan(correct_shares([methods], test, sizes, resamples=0, seed=3)[1]).all()


def test_subsets_depend_on_the_ids_not_on_the_order_of_the_file(cal: Labelled) -> None:
    table = sy.simulate(40, 8, seed=3)
    pool = labelled(table)
    order = np.random.default_rng(0).permutation(40)
    method = sy.LogitVote().fit(cal)
    for voter in (method, sy.paper.KDEVote().fit(cal)):
        one, _ = correct_shares([[voter]], pool, np.array([4]), resamples=5, seed=0)
        two, _ = correct_shares([[voter]], pool.take(order), np.array([4]), resamples=5, seed=0)
        assert np.array_equal(one[order], two)


def test_memory_does_not_grow_with_the_number_of_resamples_or_methods(test: Labelled) -> None:
    import tracemalloc

    pool = labelled(sy.simulate(400, 64, seed=0))
    sizes = np.array([2, 8, 32])
    voters = [[Shifted(k / 90 + n / 1e3) for k in range(60)] for n in sizes.tolist()]
    keys = keys_of(pool, 0)
    count_by_adding(voters, pool, sizes, keys, 1)
    peaks = []
    for resamples in (5, 50):
        tracemalloc.start()
        count_by_adding(voters, pool, sizes, keys, resamples)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
    assert peaks[0] < 8 * 3 * resampling.MAX_WEIGHTS


def test_an_interrupt_while_counting_gets_out(test: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(done: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(resampling, "A_TASK", 300)
    with pytest.raises(KeyboardInterrupt):
        count_by_adding([[sy.MajorityVote()]], test, np.array([4]), keys_of(test, 0), 50, progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        count_by_voting([[sy.MajorityVote()]], test, np.array([4]), keys_of(test, 0), 50, progress=interrupt)
