"""Messages name an argument as the caller types it: score='prm' in Python, --score prm on the command line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard


def test_repeated_samples_name_the_source_column(tmp_path: Path) -> None:
    table = sy.simulate(4, 2)
    pl.concat((table, table)).write_csv(tmp_path / "twice.csv")
    assert "who answered (--source llm)" in steelyard("vote", tmp_path / "twice.csv").err
    with pytest.raises(sy.TableError, match=r"who answered \(source='llm'\)"):
        sy.vote(tmp_path / "twice.csv")


def test_another_kind_of_answers_than_the_plan_has(tmp_path: Path) -> None:
    table, plan = tmp_path / "r.parquet", tmp_path / "plan.json"
    sy.simulate(20, 2).write_parquet(table)
    sy.VanillaVote().fit(sy.read(table, answers="exact")).save(plan)
    done = steelyard("vote", table, "--plan", plan, "--answers", "math")
    assert "leave out --answers to read them as the plan does, or fit a plan with --answers math" in done.err
    with pytest.raises(sy.PlanError, match=r"leave out answers= to read .* or fit a plan with answers='math'"):
        sy.vote(table, plan, answers="math")


def test_too_few_calibration_questions_name_the_larger_share(tmp_path: Path) -> None:
    sy.simulate(24, 4).write_parquet(tmp_path / "r.parquet")
    done = steelyard("fit", tmp_path / "r.parquet", "--calibrate", 0.2, "-o", tmp_path / "plan.json")
    assert "calibrate on half of them (--calibrate 0.5), or label" in done.err
    cal, _ = sy.read_labelled(tmp_path / "r.parquet").split(0.2, seed=0)
    with pytest.raises(
        sy.errors.CalibrationError, match=r"calibrate on half of them \(split\(0.5, seed=0\)\), or label"
    ):
        sy.LogitVote().fit(cal)
