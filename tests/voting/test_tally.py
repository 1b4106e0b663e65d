"""The counting rule against the same rule in plain Python, and its order independence."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.voting.tally import answer_totals
from tests.building import Labelled, make, plain_vote, pools


@given(pools(), st.data())
def test_the_compiled_tally_is_the_plain_vote(pool: Labelled, data: st.DataObject) -> None:
    weight = st.integers(-64, 64).map(lambda i: i / 16)
    weights = data.draw(st.lists(weight, min_size=pool.n_responses, max_size=pool.n_responses))
    assert sy.evaluation.tally(pool, weights).code.tolist() == plain_vote(pool, weights)


@given(pools(), st.integers(0, 2**32 - 1))
def test_totals_are_bit_identical_under_any_order_of_the_responses(pool: Labelled, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, 5, pool.n_responses)
    rows = np.concatenate(
        [rng.permutation(np.arange(a, b)) for a, b in zip(pool.starts, pool.starts[1:], strict=False)]
    )
    shuffled = sy.Pool(pool.starts, pool.answer[rows], pool.known_scores[rows], pool.base, pool.width, pool.questions)
    one, two = sy.evaluation.tally(pool, weights), sy.evaluation.tally(shuffled, weights[rows])
    assert one.total.tobytes() == two.total.tobytes()
    assert one.margin.tobytes() == two.margin.tobytes()


@given(pools(questions=30), st.integers(1, 4))
def test_the_number_of_threads_changes_nothing(pool: Labelled, threads: int) -> None:
    weights = np.linspace(-1, 1, pool.n_responses)
    one, many = sy.evaluation.tally(pool, weights, threads=1), sy.evaluation.tally(pool, weights, threads=threads)
    assert one.code.tolist() == many.code.tolist()
    assert one.total.tobytes() == many.total.tobytes()


@given(pools(), st.integers(0, 2**32 - 1), st.sampled_from((1.0, 2.0**-20, 2.0**20)))
def test_the_totals_by_answer_are_those_of_the_verdicts(pool: Labelled, seed: int, size: float) -> None:
    weights = np.random.default_rng(seed).normal(0, size, pool.n_responses)
    verdicts = sy.evaluation.tally(pool, weights)
    total, votes = answer_totals(pool, weights)
    first = np.cumsum(pool.width) - pool.width
    won = verdicts.code >= 0
    winner = (first + verdicts.code)[won]
    assert total[winner].tobytes() == verdicts.total[won].tobytes()
    assert votes[winner].tolist() == verdicts.votes[won].tolist()
    assert [part.sum() for part in np.split(votes, first[1:])] == verdicts.cast.tolist()


def test_tenths_that_do_not_add_up_in_binary_do_not_split_a_tie() -> None:
    pool = make([(0, 1, 0.5, False)] * 3 + [(0, 2, 0.5, False)] * 3)
    verdicts = sy.evaluation.tally(pool, [0.1, 0.2, 0.3, 0.3, 0.2, 0.1])
    assert verdicts.margin[0] == 0.0


@given(pools())
def test_shares_and_margin_stay_in_their_ranges(pool: Labelled) -> None:
    verdicts = sy.evaluation.tally(pool, np.linspace(-2, 1, pool.n_responses))
    for values in (verdicts.share, verdicts.weight_share):
        assert np.all((values >= 0) & (values <= 1))
    assert np.all(verdicts.margin >= 0)
    assert np.all((verdicts.share > 0) == (verdicts.code >= 0))


def test_share_counts_readable_responses_and_weight_share_positive_weight() -> None:
    pool = make([(0, 0, 0.5, True), (0, 0, 0.5, True), (0, 1, 0.5, False), (0, -1, 0.5, False)])
    verdicts = sy.evaluation.tally(pool, [1.0, 2.0, 1.0, 99.0])
    assert verdicts.share.tolist() == [2 / 3]
    assert verdicts.weight_share.tolist() == [0.75]
    assert np.isnan(verdicts.confidence).all()  # a tally learns no probability
    assert verdicts.margin.tolist() == [2.0]
    assert (verdicts.votes.tolist(), verdicts.cast.tolist()) == ([2], [3])


@pytest.mark.parametrize("weights", [[1.0], [[1.0, 1.0]], [1.0, float("nan")], [1.0, float("inf")]])
def test_weights_of_the_wrong_shape_or_not_finite_are_refused(weights: Any) -> None:
    with pytest.raises(sy.SettingError, match="weights"):
        sy.evaluation.tally(make([(0, 0, 0.5, True), (0, 1, 0.5, False)]), weights)


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e-3, 1.0, 1e4, 1e9, 1e30])
def test_weights_of_any_size_are_counted_and_in_any_order(size: float) -> None:
    rng = np.random.default_rng(0)
    answer = rng.integers(0, 3, 40)
    pool = sy.Pool.from_arrays(question=np.zeros(40, int), answer=answer.astype(np.int32))
    weights = rng.normal(0, size, 40)
    totals = np.bincount(answer, weights)
    order = rng.permutation(40)
    mixed = sy.Pool.from_arrays(question=np.zeros(40, int), answer=answer[order].astype(np.int32))
    one, two = sy.evaluation.tally(pool, weights), sy.evaluation.tally(mixed, weights[order])
    assert one.code[0] == totals.argmax()
    assert one.total[0] == pytest.approx(totals.max(), rel=1e-8)
    assert one.total.tobytes() == two.total.tobytes()


def test_products_of_many_steps_still_tell_answers_apart() -> None:
    pool = make([(0, 0, 1e-12, False), (0, 1, 1e-13, False), (0, 1, 1e-13, False)])
    assert sy.VanillaVote().predict(pool).code.tolist() == [0]
    tied = make([(0, 0, 1e-13, False), (0, 1, 1e-12, False)])
    assert sy.MajorityVote().predict(tied).code.tolist() == [1]
