"""Tables whose answers are lists themselves: tool calls, for example."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy

ONE = json.dumps([{"name": "area", "arguments": {"side": 3}}])
OTHER = json.dumps([{"name": "area", "arguments": {"side": 4}}])


def calls(**more: Any) -> pl.DataFrame:
    """Three LLMs call functions for two questions; the first two agree."""
    answers = {"answer": [None, ONE, ONE, OTHER] * 2}
    llms = ["a", "b", "c", "d"] * 2
    return pl.DataFrame({"question": ["q0"] * 4 + ["q1"] * 4, "category": "simple", "llm": llms, **answers, **more})


def winners(table: Any) -> list[Any]:
    pool = sy.read(table, score="none", answers="json")
    return list(sy.MajorityVote().predict(pool).answer)


@pytest.mark.parametrize("more", [{}, {"correct": [False, True, True, False] * 2}], ids=["alone", "labelled"])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_an_answer_that_is_a_list_of_calls_is_one_answer(tmp_path: Path, suffix: str, more: dict[str, Any]) -> None:
    path = tmp_path / f"calls.{suffix}"
    table = calls(**more)
    getattr(table, {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}[suffix])(path)
    assert [json.loads(answer) for answer in winners(path)] == [json.loads(ONE)] * 2


def test_beside_a_gold_that_is_a_list_each_row_is_a_response() -> None:
    table = pl.DataFrame({"question": ["a", "b"], "answer": ["[1, 2]", "[3]"], "gold": ["[1, 2]", "[4]"]})
    pool = sy.read_labelled(table, score="none", answers="json")
    assert (pool.n_questions, pool.correct.tolist()) == (2, [True, False])


def test_lists_of_numbers_with_one_label_per_row_are_one_answer_each() -> None:
    rows = [{"question": "a", "answer": [1, 2], "correct": True}, {"question": "a", "answer": [2], "correct": False}]
    pool = sy.read(rows, score="none", answers="json")
    assert (pool.n_responses, list(pool.names)) == (2, ["[1, 2]", "[2]"])


def test_one_row_per_question_with_the_answers_as_json_is_still_wide(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    pl.DataFrame({"question": ["a", "b"], "answer": ['["4", "5"]', '["6", "6"]']}).write_csv(path)
    assert sy.read(path, score="none").n_responses == 4


def test_objects_that_are_no_text_are_refused_with_the_fix() -> None:
    rows = [{"question": "a", "answer": [{"name": "f", "x": i}], "correct": i == 1} for i in range(3)]
    with pytest.raises(sy.errors.ColumnError, match="write each value as JSON text"):
        sy.read(rows, score="none", answers="json")
