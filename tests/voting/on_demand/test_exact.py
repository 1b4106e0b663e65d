"""The rule `exact` changes no verdict, whatever the pool, the plan and the ties."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.voting.on_demand import asking_names, asking_rule
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.on_demand.readings import readings, texts_scored

VARIANTS = {
    "calibrated": {},
    "logit": {},
    "linear": {},
    "vanilla": {},
    "majority": {},
    "best-of-n": {},
    "platt": {},
    "platt isotonic": {"curve": "isotonic"},
    "kde": {},
    "kde printed": {"reliability": "printed"},
    "kde fitted": {"reliability": "fitted"},
}


@cache
def fitted(name: str) -> sy.Method:
    cal = sy.read_labelled(sy.simulate(60, 8, seed=3))
    return sy.method_class(name.split(maxsplit=1)[0])(**VARIANTS[name]).fit(cal)


@st.composite
def pools(draw: st.DrawFn) -> sy.Pool:
    """A few questions with coarse scores, so that ties, exact 0 and 1 and missing scores are common."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 14, draw(st.integers(1, 6)))
    rows = int(sizes.sum())
    values = draw(st.sampled_from(([0.0, 0.5, 1.0], [0.1, 0.2, 0.9, 1.0], np.linspace(0, 1, 97))))
    scores = rng.choice(np.array(values), rows)
    scores[rng.random(rows) < draw(st.sampled_from((0.0, 0.2)))] = np.nan
    answer = rng.integers(-1 if draw(st.booleans()) else 0, draw(st.integers(1, 5)), rows)
    pool = sy.Pool.from_arrays(question=np.repeat(np.arange(len(sizes)), sizes), answer=answer, scores=scores)
    if not draw(st.booleans()):
        return pool
    text = rng.integers(0, 3, rows)  # the same words have the same answer and the same score
    key: dict[tuple[int, int, int], int] = {}
    for i, place in enumerate(zip(pool.spread(np.arange(pool.n_questions)), pool.answer, text, strict=True)):
        scores[i] = scores[key.setdefault(place, i)]
    code = (pool.answer.astype(np.int64) + 1) * 3 + text
    return replace(pool, scores=scores, text=code)


@pytest.mark.parametrize("name", VARIANTS)
@given(pool=pools())
def test_the_verdict_is_that_of_all_scores(name: str, pool: sy.Pool) -> None:
    vote = fitted(name)
    seen = replay(asking_rule("exact"), vote, pool)
    assert (vote.predict(seen).code == vote.predict(pool).code).all()


@given(pool=pools(), theta=st.lists(st.sampled_from([0.0, 0.3, 1.0, 4.0]), min_size=4, max_size=4))
def test_the_verdict_is_that_of_all_scores_for_any_coefficients(pool: sy.Pool, theta: list[float]) -> None:
    vote = sy.CalibratedVote.of(votes=theta[0], mean=theta[1], best=theta[2], slope=theta[3], offset=theta[0] - 1)
    seen = replay(asking_rule("exact"), vote, pool)
    assert (vote.predict(seen).code == vote.predict(pool).code).all()


@pytest.mark.parametrize("name", VARIANTS)
@given(pool=pools(), other=st.integers(0, 1000))
def test_scores_that_were_not_asked_could_have_been_any(name: str, pool: sy.Pool, other: int) -> None:
    vote = fitted(name)
    seen = replay(asking_rule("exact"), vote, pool)
    if seen.scored is None or pool.text is not None:
        return
    rng = np.random.default_rng(other)
    scores = np.where(seen.scored, pool.known_scores, rng.choice([0.0, 0.3, 1.0, np.nan], pool.n_responses))
    assert (vote.predict(replace(pool, scores=scores)).code == vote.predict(pool).code).all()


def test_unanimous_questions_need_no_verifier_and_close_ones_do() -> None:
    pool = sy.Pool.from_arrays(
        question=[0, 0, 0, 1, 1, 1], answer=[4, 4, 4, 4, 4, 9], scores=[0.1, 0.2, 0.3, 0.1, 0.2, 0.9]
    )
    assert texts_scored(replay(asking_rule("exact"), sy.VanillaVote(), pool)).tolist() == [0, 3]


def test_a_text_is_read_once_however_often_it_was_sampled() -> None:
    pool = sy.Pool.from_arrays(question=[0] * 5, answer=[4, 4, 4, 9, 9], scores=[0.5, 0.5, 0.5, 0.6, 0.6])
    twice = replace(pool, text=np.array([7, 7, 7, 8, 8]))
    assert readings(twice).count.tolist() == [1, 1]
    assert texts_scored(replay(asking_rule("exact"), sy.VanillaVote(), twice)).sum() <= 2


def test_a_copy_of_a_text_that_was_asked_has_its_score() -> None:
    pool = sy.Pool.from_arrays(question=[0] * 4, answer=[4, 4, 9, 9], scores=[0.2, 0.2, 0.6, 0.6])
    half = replace(pool, text=np.array([1, 1, 2, 2])).only_scored(np.array([True, False, False, True]))
    assert sy.VanillaVote().weights(half).tolist() == [0.2, 0.2, 0.6, 0.6]


def test_a_method_without_bounds_is_refused_with_the_rule_that_is_possible() -> None:
    pool = sy.read_labelled(sy.simulate(60, 8, seed=3))
    with pytest.raises(sy.SettingError, match=r"committee gives no bounds.*use 'expected'"):
        replay(asking_rule("exact"), sy.CommitteeVote(), pool)


def test_an_oracle_is_not_sent_to_a_rule_that_refuses_it_too() -> None:
    pool = sy.read_labelled(sy.simulate(60, 8, seed=3))
    with pytest.raises(sy.SettingError, match=r"pass-at-n gives no bounds.*use a plan of calibrated") as refused:
        replay(asking_rule("exact"), sy.paper.PassAtN(), pool)
    assert "'expected'" not in str(refused.value)


def test_a_method_of_ones_own_does_not_inherit_the_bounds_of_another() -> None:
    class Turned(sy.VanillaVote):
        def weigh(self, pool: sy.Pool) -> np.ndarray:
            return 5 - 9 * pool.known_scores

    pool = sy.Pool.from_arrays(question=[0, 0], answer=[4, 9], scores=[0.5, 0.6])
    with pytest.raises(sy.SettingError, match="gives no bounds"):
        replay(asking_rule("exact"), Turned(), pool)


def test_a_pool_with_everything_asked_is_the_pool_of_before() -> None:
    pool = sy.read_labelled(sy.simulate(20, 8, seed=3))
    assert pool.scored is None
    assert pool.only_scored(np.ones(pool.n_responses, bool)).scores is pool.scores
    vote = fitted("calibrated")
    assert (vote.weigh(pool) == vote.weigh(pool.only_scored(np.ones(pool.n_responses, bool)))).all()


def test_the_walk_looks_at_nothing_it_has_not_asked() -> None:
    pool = sy.read_labelled(sy.simulate(30, 8, seed=4))
    vote = fitted("logit")
    seen = replay(asking_rule("exact"), vote, pool)
    assert seen.scored is not None
    hidden = replace(pool, scores=np.where(seen.scored, pool.known_scores, 0.5))
    again = replay(asking_rule("exact"), vote, hidden)
    assert again.scored is not None
    assert again.scored.tolist() == seen.scored.tolist()


def test_both_rules_are_found() -> None:
    assert asking_names() == ("exact", "expected")
