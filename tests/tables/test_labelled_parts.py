"""A plan is fitted on the labelled questions of a folder of parts, and on nothing else of it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.tables.labelled import labelled_questions
from steelyard.tables.partitioning import partition
from tests.running import steelyard


def test_fit_reads_the_labelled_questions_of_a_folder_of_parts_alone(tmp_path: Path) -> None:
    table = sy.simulate(120, 8, seed=1)
    few = pl.col("question").is_in([f"q{i:03d}" for i in range(0, 120, 2)])
    labelled = table.filter(few)
    partition(table.with_columns(correct=pl.when(few).then("correct")), tmp_path / "parts", 4)
    done = steelyard("fit", tmp_path / "parts", "--method", "logit", "-o", tmp_path / "plan.json", "--json")
    assert done.code == 0, done.err
    assert "60 of the 120 questions" in done.err
    assert json.loads(done.out)["questions"] == 60
    labelled.write_parquet(tmp_path / "labelled.parquet")
    steelyard("fit", tmp_path / "labelled.parquet", "--method", "logit", "-o", tmp_path / "alone.json")
    assert sy.load(tmp_path / "plan.json").b == sy.load(tmp_path / "alone.json").b  # type: ignore[attr-defined]


def test_a_question_with_some_labels_is_not_taken_for_one_with_fewer_responses(tmp_path: Path) -> None:
    table = sy.simulate(6, 4, seed=1).with_columns(gold=pl.lit("1")).drop("correct")
    partial = pl.when((pl.col("question") == "q0") & (pl.col("sample") > 0)).then(None)
    none = partial.when(pl.col("question") > "q3").then(None)
    partition(table.with_columns(gold=none.otherwise("gold")), tmp_path / "parts", 2)
    rows = labelled_questions(tmp_path / "parts")
    assert sorted(rows["question"].unique()) == ["q0", "q1", "q2", "q3"]
    with pytest.raises(sy.errors.LabelError, match="3 responses have no gold answer"):
        sy.read(rows)
