"""Consensus: what sources are worth without any label."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from tests.committees import FIVE, accuracy, committee, pool

TEST = pool(questions=400, seed=2)


def test_it_beats_the_majority_and_reads_no_labels() -> None:
    vote = sy.ConsensusVote().fit(TEST.unlabelled())
    assert accuracy(vote, TEST) > accuracy(sy.MajorityVote(), TEST) + 0.03
    assert vote.weights_ == sy.ConsensusVote().fit(TEST).weights_
    assert max(vote.weights_, key=vote.weights_.__getitem__) == "ant"


@pytest.mark.parametrize("count", [2, 3, 4])
def test_few_sources_are_no_worse_than_the_majority(count: int) -> None:
    names = dict(list(FIVE.items())[:count])
    few = pool(committee(names, 400, seed=3))
    assert accuracy(sy.ConsensusVote().fit(few), few) >= accuracy(sy.MajorityVote(), few) - 0.005


def test_a_clique_of_copies_does_not_take_over() -> None:
    """Six copies of a poor source against four independent ones, three of them good."""
    sources = {"ant": 0.85, "bee": 0.75, "cat": 0.75, "poor": 0.3}
    copies = {f"poor{i}": "poor" for i in range(5)}
    many = pool(committee(sources, 300, seed=4, copies=copies))
    with pytest.warns(sy.SteelyardWarning, match="without labels copies cannot be distinguished from"):
        vote = sy.ConsensusVote().fit(many)
    assert accuracy(vote, many) > accuracy(sy.MajorityVote(), many) + 0.3
    assert vote.weigh(many)[many.source == many.sources.index("poor")].max() <= vote.weights_["ant"] / 6


def test_good_sources_that_agree_because_they_are_correct_are_no_copies() -> None:
    good = pool(committee({"ant": 0.97, "bee": 0.97, "cat": 0.96, "dog": 0.6}, 300, seed=5))
    vote = sy.ConsensusVote().fit(good)
    assert len(set(vote.voters_.values())) == 4


def test_sources_that_all_guess_leave_the_majority() -> None:
    rng = np.random.default_rng(0)
    guess = sy.Pool.from_arrays(
        question=np.repeat(np.arange(200), 4), answer=rng.integers(0, 50, 800), source=np.tile(list("abcd"), 200)
    )
    assert np.isfinite(list(sy.ConsensusVote().fit(guess).weights_.values())).all()
