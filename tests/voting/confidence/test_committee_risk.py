"""Selective prediction by a committee: the error that was promised holds on questions nobody has seen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import steelyard as sy
from tests.committees import committee, pool
from tests.running import make_plan, steelyard

RISK, SURE = 0.15, 0.9


def drawn(questions: int, seed: int) -> sy.LabelledPool:
    """Five sources of different reliability, questions of different difficulty; the answer 0 is correct."""
    rng = np.random.default_rng(seed)
    reliability = np.log([6.0, 2.0, 1.2, 0.8, 0.6])
    right = rng.random((questions, 5)) < 1 / (1 + np.exp(-reliability - rng.normal(0, 1.2, (questions, 1))))
    answer = np.where(right, 0, 1 + rng.integers(0, 4, (questions, 5))).ravel()
    question, source = np.repeat(np.arange(questions), 5), np.tile(list("abcde"), questions)
    made = sy.Pool.from_arrays(question=question, answer=answer, source=source, correct=answer == 0)
    assert isinstance(made, sy.LabelledPool)
    return made


@pytest.mark.parametrize("worlds", [8, pytest.param(80, marks=pytest.mark.long)])
def test_the_promised_error_rate_holds_on_held_out_questions(worlds: int) -> None:
    test = drawn(10_000, seed=999)
    broken = made = 0
    for seed in range(worlds):
        vote = sy.CommitteeVote(reserve=0.5).fit(drawn(400, seed))
        try:
            held = vote.risk_control(RISK, SURE)
        except sy.errors.CalibrationError:
            continue
        verdicts = vote.predict(test.unlabelled())
        answered = verdicts.confidence >= held.threshold
        made += 1
        broken += float(1 - verdicts.correct(test)[answered].mean()) > RISK
        assert abs(answered.mean() - held.coverage) < 0.15
    assert made > worlds // 2
    assert stats.binomtest(broken, worlds, 1 - SURE, alternative="greater").pvalue > 0.001


def test_reserved_questions_teach_a_committee_nothing() -> None:
    labelled = drawn(200, seed=1)
    apart = np.random.default_rng(0).permutation(200)[labelled.rank] < 100
    correct = labelled.answer_correct.copy()
    for q in np.flatnonzero(apart):
        correct[labelled.base[q] : labelled.base[q] + labelled.width[q]] ^= True
    one = sy.CommitteeVote(reserve=0.5).fit(labelled)
    other = sy.CommitteeVote(reserve=0.5).fit(replace(labelled, answer_correct=correct))
    assert one.weights_ == other.weights_
    assert one.out_of_fold_correct_.tolist() == other.out_of_fold_correct_.tolist()
    assert len(one.reserved_correct_) == one.questions_reserved() == 100
    assert "(100 others reserved)" in one.explain()


def test_a_committee_without_reserved_questions_says_how_to_have_some() -> None:
    with pytest.raises(sy.errors.CalibrationError, match=r"reserved no questions.*--set reserve=0.5"):
        sy.CommitteeVote().fit(drawn(100, seed=1)).risk_control(0.1)


def test_too_large_a_reserve_is_refused() -> None:
    with pytest.raises(
        sy.errors.CalibrationError, match=r"reserve=0.9 leaves 4 of 40 questions to fit on: .* 10 are left"
    ):
        sy.CommitteeVote(reserve=0.9).fit(drawn(40, seed=1))
    with pytest.raises(sy.SettingError, match=r"reserve must lie between 0 and 0.9"):
        sy.CommitteeVote(reserve=0.95).fit(drawn(40, seed=1))


def test_voting_with_a_risk_takes_answers_of_a_committee_away(tmp_path: Path) -> None:
    committee({"ant": 0.75, "bee": 0.6, "cat": 0.5}, 300, seed=1).write_parquet(tmp_path / "t.parquet")
    make_plan(tmp_path / "t.parquet", "--source", "llm", "--set", "reserve=0.5", "-o", tmp_path / "p.json")
    words = ("--plan", tmp_path / "p.json", "--risk", 0.2, "-o", tmp_path / "v.parquet")
    shown = steelyard("vote", tmp_path / "t.parquet", *words)
    verdicts = pl.read_parquet(tmp_path / "v.parquet")
    assert 0 < verdicts["answered"].sum() < verdicts.height
    assert verdicts["answer"].is_null().equals(~verdicts["answered"])
    assert "if the questions are like the 150 reserved ones" in shown.out


def test_without_labels_no_risk_can_be_controlled_and_the_fix_works(tmp_path: Path) -> None:
    committee(questions=300, seed=1).write_parquet(tmp_path / "t.parquet")
    words = ("--method", "consensus", "--source", "llm", "--risk", 0.1)
    done = steelyard("vote", tmp_path / "t.parquet", *words)
    assert done.code == 2
    assert "consensus reads no labels, so nothing says how often it is wrong" in done.err
    assert "steelyard fit FILE --source llm --set reserve=0.5" in done.err


def test_a_plan_made_before_committees_could_reserve_votes_as_it_did(tmp_path: Path) -> None:
    made = pool(questions=60)
    vote = sy.CommitteeVote().fit(made)
    vote.save(tmp_path / "new.json")
    plan = json.loads((tmp_path / "new.json").read_text())
    del plan["settings"]["reserve"]
    for key in ("out_of_fold_confidence_", "out_of_fold_correct_", "reserved_confidence_", "reserved_correct_"):
        del plan["learned"][key]
    (tmp_path / "old.json").write_text(json.dumps(plan))
    old = sy.load(tmp_path / "old.json")
    assert old.predict(made).to_polars().equals(vote.predict(made).to_polars())
    with pytest.raises(sy.errors.CalibrationError, match=r"reserved no questions"):
        old.risk_control(0.1)
