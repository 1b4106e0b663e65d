"""The simulator does what its knobs say."""

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from tests.building import labelled


def test_scores_are_bfloat16_in_the_unit_interval_and_some_saturate() -> None:
    table = sy.simulate(200, 16, seed=0)
    score = table["score"].to_numpy()
    assert score.dtype == np.float32
    assert np.all((score >= 0) & (score <= 1))
    assert not np.any(score.view(np.uint32) & 0xFFFF)
    assert 0.02 < np.mean((score == 0) | (score == 1)) < 0.06


def test_rounding_to_bfloat16_can_be_left_out() -> None:
    score = sy.simulate(50, 16, seed=0, world=sy.testing.World(bf16=False))["score"].to_numpy()
    assert np.any(score.view(np.uint32) & 0xFFFF)


def test_unreadable_answers_are_null_and_wrong() -> None:
    table = sy.simulate(200, 16, seed=0, world=sy.testing.World(unreadable=0.2))
    null = table.filter(pl.col("answer").is_null())
    assert null.height / table.height == pytest.approx(0.2, abs=0.03)
    assert not null["correct"].any()


def test_a_dominating_mistake_makes_majority_votes_worse() -> None:
    def majority(**knobs: float) -> float:
        pool = labelled(sy.simulate(1000, 16, seed=0, world=sy.testing.World(**knobs)))  # type: ignore[arg-type]
        return float(sy.accuracy(sy.MajorityVote().predict(pool), pool))

    assert majority(dominating=0.0) > majority(dominating=0.25) > majority(dominating=1.0)
    assert majority(easy_share=1.0) > majority(easy_share=0.0)


def test_without_inconsistency_scores_follow_two_distributions_whatever_the_question() -> None:
    """The pseudo-PRM: between questions, mean scores of correct responses differ by chance only."""

    def spread(inconsistency: float) -> float:
        table = sy.simulate(400, 64, seed=0, world=sy.testing.World(inconsistency=inconsistency, easy_share=1.0))
        means = table.filter("correct").group_by("question").agg(pl.col("score").mean(), pl.len())
        return float(means.filter(pl.col("len") > 30)["score"].std())  # type: ignore[arg-type]

    consistent = sy.simulate(400, 64, seed=0, world=sy.testing.World(inconsistency=0.0))
    within = float(consistent.filter("correct")["score"].std())  # type: ignore[arg-type]
    assert spread(0.0) < 1.2 * within / np.sqrt(31)
    assert spread(1.0) > 3 * spread(0.0)


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(sy.SettingError, match="at least one question"):
        sy.simulate(0, 5)
