"""Leave one out: the loss is that of the vote without the source, and a copy is not missed."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.evaluation.source_analysis import leave_one_out
from tests.committees import accuracy, pool


def test_the_loss_is_the_accuracy_with_all_less_that_of_the_others_learned_anew() -> None:
    cal, test = pool(questions=300).split(0.5, seed=0)
    found = leave_one_out(sy.CommitteeVote(), cal, test, ["ant", "bee"])
    rest = [name for name in test.sources if name != "bee"]
    whole = accuracy(sy.CommitteeVote().fit(cal), test)
    without = accuracy(sy.CommitteeVote().fit(cal.from_sources(rest)), test.from_sources(rest))
    assert float(found["bee"]) == pytest.approx(whole - without)
    assert found["bee"].low <= found["bee"] <= found["bee"].high
    assert found["bee"].questions == test.n_questions


def test_the_expert_is_missed_and_the_same_expert_twice_is_not() -> None:
    cal, test = pool(questions=400).split(0.5, seed=0)
    assert leave_one_out(sy.CommitteeVote(), cal, test, ["ant"])["ant"].low > 0.05
    cal, test = pool(questions=400, copies={"ant-again": "ant"}).split(0.5, seed=0)
    found = leave_one_out(sy.CommitteeVote(), cal, test, ["ant", "ant-again"])
    assert all(abs(float(lost)) < 0.03 for lost in found.values())


def test_a_question_that_only_the_left_out_source_answered_is_lost() -> None:
    made = pool(reliability={"ant": 0.9, "bee": 0.6}, questions=200)
    alone = made.from_sources(["ant"]).take(np.arange(150, 200))
    cal, both = made.take(np.arange(100)), made.take(np.arange(100, 150))
    rows = [
        (str(part.questions[q]), part.sources[part.source[i]], int(part.answer[i]), bool(part.correct[i]))
        for part in (both, alone)
        for q in range(part.n_questions)
        for i in range(int(part.starts[q]), int(part.starts[q + 1]))
        if part.source is not None
    ]
    question, source, answer, correct = zip(*rows, strict=True)
    test = sy.Pool.from_arrays(question=question, source=source, answer=answer, correct=correct)
    assert isinstance(test, sy.LabelledPool)
    lost = leave_one_out(sy.ConsensusVote(), cal, test, ["ant"])["ant"]
    assert lost.questions == 100
    assert float(lost) > 0.3


def test_votes_are_fitted_on_no_more_questions_than_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.evaluation.source_analysis.MAX_QUESTIONS", 40)
    cal, test = pool(questions=200).split(0.5, seed=0)
    seen = []

    class Spy(sy.MajorityVote):
        name = "spy"

        def _learn(self, pool: sy.Pool) -> None:
            seen.append(pool.n_questions)

    leave_one_out(Spy(), cal, test, ["ant"])
    assert seen
    assert max(seen) <= 40
