"""The guard of the paper's methods, and the committee that gives way to a better rival."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.evaluation.accuracy import need_labels
from steelyard.foundation.errors import NothingToLearnError

METHODS = (sy.LogitVote, sy.paper.LinearVote, sy.paper.PlattVote, sy.paper.KDEVote)


def split(verifier: str) -> tuple[Any, Any]:
    return sy.paper.load_grid("smol-misled", verifier).first(16).split(0.1, seed=0)


@pytest.mark.parametrize("kind", METHODS)
def test_the_guard_turns_scores_dealt_at_random_into_the_majority_vote(kind: Any, tmp_path: Path) -> None:
    cal, test = split("prm_soft")
    noise = cal.with_shuffled_scores(1)
    vote = kind(guard=True).fit(noise)
    assert not vote.helps_
    assert np.array_equal(vote.predict(test).code, sy.MajorityVote().predict(test).code)
    assert vote.weight(0.1) == vote.weight(0.9)
    vote.save(tmp_path / "plan.json")
    assert np.array_equal(sy.load(tmp_path / "plan.json").predict(test).code, vote.predict(test).code)
    assert kind().fit(noise).helps_


@pytest.mark.parametrize("kind", METHODS)
def test_the_guard_leaves_a_method_that_gains_as_it_is(kind: Any) -> None:
    cal, test = split("prm_soft")
    guarded, plain = kind(guard=True).fit(cal), kind().fit(cal)
    assert guarded.helps_
    assert np.array_equal(guarded.weigh(test), plain.weigh(test))


@pytest.mark.parametrize("kind", METHODS)
def test_a_method_of_the_paper_refuses_labels_that_are_all_alike(kind: Any) -> None:
    cal, _ = split("prm_soft")
    with pytest.raises(NothingToLearnError, match="every scored response to the 100 calibration questions is correct"):
        kind().fit(cal.unlabelled().labelled(cal.readable))


def test_evaluate_uses_majority_vote_where_there_is_nothing_to_learn() -> None:
    pool = need_labels(sy.read(sy.simulate(60, 4, seed=0)))
    cal, test = pool.split(0.5, seed=0)
    alike = cal.unlabelled().labelled(cal.readable)
    with pytest.warns(sy.SteelyardWarning, match="there is nothing to learn"):
        table = sy.evaluate(["majority", "logit", "kde", "calibrated"], alike, test, n=[4], resamples=0)
    assert table["accuracy"].n_unique() == 1


def test_a_committee_gives_way_to_its_best_source() -> None:
    """Three sources that copy a mistake outvote an expert, and the prior of a committee believes agreement."""
    rng = np.random.default_rng(0)
    rows = [(q, s) for q in range(200) for s in ("expert", "a", "b", "c")]
    question, source = zip(*rows, strict=True)
    wrong = rng.random(200) < 0.7
    answer = [0 if s == "expert" else (1 + int(q % 3) if wrong[q] else 0) for q, s in rows]
    pool = sy.Pool.from_arrays(question=question, answer=answer, source=source, correct=[a == 0 for a in answer])
    cal, test = need_labels(pool).split(0.5, seed=0)
    vote = sy.CommitteeVote().fit(cal)
    assert float(sy.accuracy(vote.predict(test), test)) == 1.0
