"""The probabilities of a question's answers, and of none of them, are one whole."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.voting.confidence.answer_probabilities import AnswerProbabilities
from tests.building import labelled, make


@pytest.fixture(scope="module")
def vote() -> sy.CalibratedVote:
    return sy.CalibratedVote().fit(labelled(sy.simulate(150, 8, seed=2)))


def of(vote: sy.CalibratedVote, pool: sy.Pool) -> AnswerProbabilities:
    found = vote.answer_probabilities(pool)
    assert found is not None
    return found


@pytest.mark.parametrize("samples", [1, 3, 8])
def test_they_add_up_to_one_and_the_winner_has_the_confidence_of_the_verdict(
    vote: sy.CalibratedVote, samples: int
) -> None:
    pool = labelled(sy.simulate(200, 8, seed=9)).first(samples)
    found, verdicts = of(vote, pool), vote.predict(pool)
    for q in range(pool.n_questions):
        p = found.of(q)
        assert p.sum() + found.none[q] == pytest.approx(1)
        assert p.min(initial=0.0) >= 0
        assert found.none[q] >= 0
        if verdicts.code[q] >= 0:
            assert p[verdicts.code[q]] == verdicts.confidence[q] == p.max()


def test_where_no_answer_can_be_read_none_of_these_is_certain(vote: sy.CalibratedVote) -> None:
    pool = make([(0, -1, 0.9, False), (0, -1, 0.2, False), (1, 4, 0.9, True)])
    found = of(vote, pool)
    assert found.none[0] == 1
    assert 0 < found.none[1] < 1
    assert not found.of(0).any()


def test_answers_that_nobody_gave_have_no_probability(vote: sy.CalibratedVote) -> None:
    pool = make([(0, 1, 0.9, True), (0, 3, 0.1, False)])
    assert np.count_nonzero(of(vote, pool).of(0)) == 2


def test_a_method_that_has_learned_none_says_so() -> None:
    pool = make([(0, 1, 0.9, True), (0, 3, 0.1, False)])
    assert sy.MajorityVote().answer_probabilities(pool) is None
    assert sy.CalibratedVote.of(votes=1.0).answer_probabilities(pool) is None
