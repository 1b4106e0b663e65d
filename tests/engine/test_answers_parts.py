"""Answers read part by part are those read out of all rows."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.engine.read_answers import answers_of_parts
from steelyard.tables.partitioning import partition
from tests.engine.engines import Here

SAID = ("So it is 1/2.", "The answer is 0.5", "I do not know", r"\boxed{7}", "\\boxed{7.0}", "So x = 3.")


@pytest.mark.parametrize("kind", ["math", "auto"])
def test_answers_over_parts_are_those_over_all_rows(tmp_path: Path, kind: str) -> None:
    rows = [(f"q{i}", SAID[(i * j) % 6]) for i in range(1, 12) for j in range(6)]
    table = pl.DataFrame(rows, schema=["question", "response"], orient="row")
    partition(table, tmp_path / "parts", 20)
    found = answers_of_parts(tmp_path / "parts", tmp_path / "out", Here(), answers=kind)
    whole = sy.read_answers(tmp_path / "parts", answers=kind)
    assert sy.read_answers(table).table.sort("question").equals(whole.table.sort("question"))
    assert pl.concat([pl.read_parquet(path) for path in sorted((tmp_path / "out").glob("part-*.parquet"))]).equals(
        whole.table
    )
    assert (found.responses, found.unreadable) == (66, whole.unreadable)
    assert sorted(found.rules.items()) == sorted(whole.rules.select("rule", "responses").rows())
    assert found.classes == whole.merged.height
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["responses"] == 66


def test_only_the_unreadable_rows_are_written_if_these_are_asked_for(tmp_path: Path) -> None:
    partition({"question": ["a", "b"], "response": ["It is 3.", "no idea"]}, tmp_path / "parts", 2)
    answers_of_parts(tmp_path / "parts", tmp_path / "out", Here(), only_unreadable=True)
    lost = pl.concat([pl.read_parquet(path) for path in (tmp_path / "out").glob("part-*.parquet")])
    assert lost["question"].to_list() == ["b"]
