"""Without a learned probability there is no confidence: null in tables, files and JSON, left out of what is printed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.method_tables import confidence_table
from steelyard.evaluation.scores_on_demand import evaluate_frugal
from steelyard.voting.stopping.rules.confidence import Confidence
from steelyard.voting.stopping.stopping_rule import prefix_of
from tests.building import Labelled
from tests.running import make_plan, steelyard

LEARNED = {"calibrated", "committee"}
WITHOUT = [kind for kind in map(sy.method_class, sy.method_names()) if kind.name not in LEARNED]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("none") / "t.parquet"
    sy.simulate(80, 6, seed=1).write_parquet(path)
    return path


@pytest.mark.parametrize("kind", WITHOUT, ids=lambda kind: kind.name)
def test_a_method_that_learns_no_probability_has_no_confidence(
    kind: type[sy.Method], cal: Labelled, test: Labelled
) -> None:
    verdicts = kind().fit(cal).predict(test if kind.oracle else test.unlabelled())
    assert np.isnan(verdicts.confidence).all()
    table = verdicts.to_polars()
    assert table.schema["confidence"] == pl.Float64
    assert table["confidence"].null_count() == len(verdicts)
    assert table["share"].to_numpy() == pytest.approx(verdicts.votes / np.maximum(verdicts.cast, 1))


@pytest.mark.parametrize("name", ["majority", "vanilla", "best-of-n"])
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_files_of_verdicts_have_a_null(file: Path, tmp_path: Path, name: str, ending: str) -> None:
    path = tmp_path / f"v.{ending}"
    done = steelyard("vote", file, "--method", name, "-o", path)
    assert done.code == 0, done.err
    if ending == "jsonl":
        assert {json.loads(line)["confidence"] for line in path.read_text().splitlines()} == {None}
    read: Any = {"parquet": pl.read_parquet, "csv": pl.read_csv, "jsonl": pl.read_ndjson}[ending]
    found = read(path)
    assert found["confidence"].null_count() == found.height == 80
    assert found["share"].min() > 0


def test_the_printed_table_has_shares_and_no_column_of_confidence(file: Path) -> None:
    shown = steelyard("vote", file, "--method", "majority").out
    assert "share %" in shown
    assert "confidence" not in shown
    listed = json.loads(steelyard("vote", file, "--method", "majority", "--json").out)["verdicts"]
    assert {row["confidence"] for row in listed} == {None}


@pytest.mark.parametrize("method", ["logit", "calibrated"])
def test_a_plan_has_a_confidence_if_its_method_learns_one(file: Path, tmp_path: Path, method: str) -> None:
    plan = tmp_path / "plan.json"
    assert make_plan(file, "--method", method, "-o", plan).code == 0
    rows = json.loads(steelyard("vote", file, "--plan", plan, "--json").out)["verdicts"]
    assert all((row["confidence"] is not None) == (method in LEARNED) for row in rows)
    assert ("confidence %" in steelyard("vote", file, "--plan", plan).out) == (method in LEARNED)


@pytest.mark.parametrize("method", ["majority", "logit"])
def test_a_risk_is_refused_in_one_line(file: Path, tmp_path: Path, method: str) -> None:
    plan = tmp_path / "plan.json"
    assert steelyard("fit", file, "--method", method, "-o", plan).code == 0
    done = steelyard("vote", file, "--plan", plan, "--risk", "0.1")
    assert done.code == 2
    assert f"{method} learns no probability" in done.err
    assert "fit a plan" in done.err
    assert done.err.strip().count("\n") == 0


def test_a_vote_made_by_hand_controls_no_risk() -> None:
    pool = sy.Pool.from_arrays(question=[0, 0], answer=[4, 9], scores=[0.1, 0.9])
    vote = sy.CalibratedVote.of(votes=1.0)
    assert np.isnan(vote.predict(pool).confidence).all()
    with pytest.raises(sy.errors.CalibrationError, match="no probability was learned"):
        vote.risk_control(0.1)


def test_a_ballot_by_majority_has_a_share_and_no_confidence() -> None:
    with sy.Ballot(sy.MajorityVote()) as ballot:
        assert ballot.state.confidence is None
        for _ in range(4):
            stands = ballot.add("7")
    assert (stands.confidence, stands.share, stands.votes) == (None, 1.0, 4)


def test_the_rule_that_needs_a_confidence_says_so(test: Labelled) -> None:
    step = prefix_of(sy.MajorityVote().predict(test.unlabelled().take(np.array([0]))))
    with pytest.raises(sy.SettingError, match="needs a method that learns the probability"):
        Confidence(8).ready(step)


def test_the_quality_of_a_confidence_is_measured_only_where_there_is_one(cal: Labelled, test: Labelled) -> None:
    assert confidence_table(["majority", "logit"], cal, test).shape == (0, 4)
    assert confidence_table(["majority", "calibrated"], cal, test)["method"].to_list() == ["calibrated"]


def test_evaluate_names_the_methods_without_a_confidence(file: Path) -> None:
    words = ("evaluate", file, "--method", "majority,vanilla,calibrated", "-n", "6", "--resamples", "1")
    shown = steelyard(*words)
    assert shown.code == 0, shown.err
    assert "No confidence, because they learn no probability: majority, vanilla." in shown.out + shown.err
    found = json.loads(steelyard(*words, "--json").out)["confidence"]
    assert [row["method"] for row in found] == ["calibrated"]
    alone = steelyard("evaluate", file, "--method", "majority", "-n", "6", "--resamples", "1")
    assert "Is the confidence calibrated?" not in alone.out


def test_a_replay_of_asking_has_no_calibration_error_without_a_confidence(cal: Labelled, test: Labelled) -> None:
    found = evaluate_frugal(["vanilla", "calibrated"], cal, test, "exact")
    assert found["ece"].is_null().to_list() == found["ece_all_scores"].is_null().to_list() == [True, False]
