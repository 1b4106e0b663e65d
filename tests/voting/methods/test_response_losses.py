"""What an answer loses without a response is what it loses when that response cannot be read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.voting.methods.base import response_losses as module
from steelyard.voting.methods.base.response_losses import response_losses
from tests.building import labelled


def test_a_loss_is_the_difference_that_the_response_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 50)  # in many parts
    vote = sy.CalibratedVote().fit(labelled(sy.simulate(150, 8, seed=2)))
    pool = sy.read(sy.simulate(20, 8, seed=9))
    losses, before = response_losses(vote, pool), vote.answer_probabilities(pool)
    assert losses is not None
    assert before is not None
    for row in np.flatnonzero(pool.readable).tolist():
        q = int(np.searchsorted(pool.starts, row, side="right")) - 1
        silenced = pool.answer.copy()
        silenced[row] = -1
        after = vote.answer_probabilities(replace(pool, answer=silenced))
        assert after is not None
        code = pool.answer[row]
        assert losses[row] == pytest.approx(before.of(q)[code] - after.of(q)[code], abs=1e-12)
    assert not losses[~pool.readable].any()


def test_without_its_only_response_an_answer_loses_all_it_had() -> None:
    vote = sy.CalibratedVote().fit(labelled(sy.simulate(150, 8, seed=2)))
    pool = sy.Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.7, 0.8, 0.4])
    losses, found = response_losses(vote, pool), vote.answer_probabilities(pool)
    assert losses is not None
    assert found is not None
    assert losses[2] == pytest.approx(found.of(0)[9])
    assert losses[2] > 0


def test_a_method_without_probabilities_has_no_losses() -> None:
    pool = sy.Pool.from_arrays(question=[0], answer=[1], scores=[0.5])
    assert response_losses(sy.VanillaVote(), pool) is None
