"""Conformal answer sets: coverage, the exact threshold, and refusals."""

from __future__ import annotations

import json
from math import ceil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.voting.confidence.answer_sets import answer_set_threshold
from tests.building import Labelled, labelled
from tests.engine.engines import Here
from tests.running import make_plan, steelyard


@pytest.mark.parametrize(("questions", "alpha"), [(9, 0.1), (50, 0.1), (200, 0.25), (19, 0.05)])
def test_the_threshold_is_the_conformal_quantile(questions: int, alpha: float) -> None:
    p = np.random.default_rng(0).random(questions)
    rank = ceil((questions + 1) * (1 - alpha) - 1e-9)
    assert (p >= answer_set_threshold(p, alpha).threshold).sum() == rank


def test_the_sets_cover_as_often_as_promised() -> None:
    """Over calibration sets, for probabilities that mean nothing and some answers that were never sampled."""
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(3000):
        p = np.where(rng.random(61) < 0.05, -1.0, rng.random(61) ** 3)  # the last one is a new question
        covered.append(p[-1] >= answer_set_threshold(p[:-1], 0.2).threshold)
    assert 0.8 - 3 * np.sqrt(0.16 / 3000) < np.mean(covered) < 0.8 + 1 / 61 + 3 * np.sqrt(0.16 / 3000)


def test_answers_that_were_never_sampled_are_reported() -> None:
    p = np.concatenate((np.full(8, -1.0), np.full(32, 0.9)))
    with pytest.raises(sy.errors.CalibrationError, match=r"on 8 of 40 reserved questions .* an error of 0.22 or more"):
        answer_set_threshold(p, 0.1)
    assert answer_set_threshold(p, 0.22).never_sampled == 8


@pytest.mark.parametrize(
    ("questions", "alpha", "message"), [(8, 0.1, "need 9 reserved questions"), (8, 1.5, "between 0 and 1")]
)
def test_impossible_sets_are_refused(questions: int, alpha: float, message: str) -> None:
    with pytest.raises(sy.errors.SteelyardError, match=message):
        answer_set_threshold(np.ones(questions), alpha)


def test_only_a_plan_with_reserved_questions_has_sets(cal: Labelled) -> None:
    with pytest.raises(sy.errors.CalibrationError, match="reserved no questions"):
        sy.CalibratedVote().fit(cal).answer_sets(0.1)
    with pytest.raises(sy.errors.CalibrationError, match=r"fit --method calibrated --set reserve=0.5"):
        sy.MajorityVote().answer_sets(0.1)


def test_sets_on_other_questions_contain_the_correct_answer() -> None:
    cal, test = labelled(sy.simulate(1600, 8, seed=3)).split(0.5, seed=0)
    plan = sy.CalibratedVote(reserve=0.5).fit(cal)
    measured = sy.evaluation.answer_set_coverage(plan, test, 0.2)
    assert abs(measured.coverage.mean - 0.8) < 0.06
    larger = sy.evaluation.answer_set_coverage(plan, test, 0.12)
    assert larger.size.mean > measured.size.mean >= 1
    with pytest.raises(sy.errors.CalibrationError):
        sy.evaluation.answer_set_coverage(sy.MajorityVote(), test, 0.2)


def test_vote_lists_the_sets_the_most_likely_answer_first(tmp_path: Path) -> None:
    table = sy.simulate(400, 16, seed=1)
    table.write_parquet(tmp_path / "t.parquet")
    make_plan(tmp_path / "t.parquet", "--set", "reserve=0.5", "-o", tmp_path / "p.json")
    command = ("vote", tmp_path / "t.parquet", "--plan", tmp_path / "p.json", "--answer-sets", 0.15)
    out = steelyard(*command, "-o", tmp_path / "v.parquet").out
    verdicts = pl.read_parquet(tmp_path / "v.parquet")
    assert "with a probability of at least 85%" in out
    assert "of these it was never sampled" in out
    sizes = verdicts["answer_set"].list.len()
    assert sizes.max() > 1  # type: ignore[operator]
    assert (verdicts["answer_set"].list.first() == verdicts["answer"]).all()
    shown = json.loads(steelyard(*command, "-o", tmp_path / "again.jsonl", "--json").out)
    assert shown["mean_set_size"] == pytest.approx(sizes.to_numpy().mean())
    assert shown["answer_sets"]["questions"] == 200
    refused = steelyard(*command, "-o", tmp_path / "v.csv")
    assert refused.code == 2
    assert "lists, which a CSV file cannot hold" in refused.err


def test_a_question_without_an_answer_has_an_empty_set() -> None:
    plan = sy.CalibratedVote(reserve=0.5).fit(labelled(sy.simulate(400, 8, seed=1)))
    rows = pl.DataFrame({"question": [*"aaaaaaaab"], "answer": [*"11111111", None], "score": [0.9] * 9})
    assert sy.vote(rows, plan, answer_sets=0.3)["answer_set"].to_list() == [["1"], []]


def test_parts_have_the_sets_of_one_process(tmp_path: Path) -> None:
    table = sy.simulate(60, 8, seed=2)
    sy.CalibratedVote(reserve=0.5).fit(labelled(sy.simulate(400, 8, seed=1))).save(tmp_path / "p.json")
    sy.partition(table, tmp_path / "parts", 3)
    plan = tmp_path / "p.json"
    parts = sy.vote(tmp_path / "parts", plan, engine=Here(), output=tmp_path / "out", answer_sets=0.2)
    assert parts.sort("question").equals(sy.vote(table, plan, answer_sets=0.2).sort("question"))


def test_a_damaged_plan_is_refused(tmp_path: Path) -> None:
    sy.CalibratedVote(reserve=0.5).fit(labelled(sy.simulate(100, 4, seed=1))).save(tmp_path / "p.json")
    content = json.loads((tmp_path / "p.json").read_text())
    content["learned"]["reserved_answer_p_"][0] = 7.0
    (tmp_path / "p.json").write_text(json.dumps(content))
    with pytest.raises(sy.PlanError, match="probabilities of correct answers are damaged"):
        sy.load(tmp_path / "p.json")


def test_fewer_samples_than_at_the_fit_are_refused(tmp_path: Path) -> None:
    table = sy.simulate(120, 8)
    sy.CalibratedVote(reserve=0.5).fit(sy.read_labelled(table)).save(tmp_path / "plan.json")
    assert sy.vote(table, tmp_path / "plan.json", answer_sets=0.3).height == 120
    with pytest.raises(sy.SettingError, match="calibrated with 8 samples per question, and this vote uses 2"):
        sy.vote(table, tmp_path / "plan.json", answer_sets=0.3, n=2)
