"""lighteval: the texts of a row are samples, and gold_index points at the gold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.tables.layouts.golden import GOLDEN, note, refusal, table

DATE = "2026-11-16T04-00-00.000000"
SUMS, CHOICE = (GOLDEN / "lighteval" / f"details_{task}_{DATE}.parquet" for task in ("sums", "sums_choice"))


def _with_doc(path: Path, **fields: Any) -> Path:
    rows = pl.read_parquet(SUMS).to_dicts()
    rows[0]["doc"] |= fields
    pl.DataFrame(rows, infer_schema_length=None, strict=False).write_parquet(path)
    return path


def test_texts_are_samples_and_the_gold_is_the_choice_at_gold_index() -> None:
    read = table(SUMS)
    assert read["sample"].to_list() == [0, 1, 2, 3] * 4
    assert read["gold"].to_list() == ["5"] * 4 + ["42"] * 4 + ["4"] * 4 + ["4"] * 4
    assert read["response"][12:].str.extract(r"is (\d)").to_list() == ["4", "4", "4", "3"]
    assert read["prompt"][0] == "What is 2 + 3?"
    assert set(read["tokens"]) == {4}
    assert note(SUMS) == "lighteval details: 4 questions, 4 samples"


def test_log_probabilities_are_no_responses() -> None:
    said = "doc '0' of sums_choice|0 contains log-probabilities of its choices and no response"
    assert refusal(CHOICE).startswith(said)


@pytest.mark.parametrize("index", [7, -1])
def test_a_gold_index_without_a_choice_is_refused(tmp_path: Path, index: int) -> None:
    path = _with_doc(tmp_path / "details.parquet", gold_index=index)
    assert refusal(path) == f"doc '0' of sums|0 has the gold_index {index} and 1 choices: correct it"


def test_a_question_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = _with_doc(tmp_path / "details.parquet", id="1")
    assert refusal(path) == "doc '1' of sums|0 appears twice, from two runs or two LLMs: pass the files of one run"


def test_several_tasks_keep_their_questions_apart(tmp_path: Path) -> None:
    read = table(_with_doc(tmp_path / "details.parquet", task_name="other|0"))
    assert set(read["question"]) == {"other|0/0", "sums|0/1", "sums|0/2", "sums|0/3"}


def test_several_golds_are_accepted_answers(tmp_path: Path) -> None:
    rows = pl.read_parquet(SUMS).to_dicts()
    for row in rows:
        row["doc"]["gold_index"] = [row["doc"]["gold_index"]]
    rows[0]["doc"] |= {"choices": ["6", "5", "five"], "gold_index": [1, 2]}
    path = tmp_path / "details.parquet"
    pl.DataFrame(rows, infer_schema_length=None, strict=False).write_parquet(path)
    assert table(path)["gold"].to_list()[3:5] == [["5", "five"], ["42"]]
    assert note(path).endswith("1 question accepts several answers")
