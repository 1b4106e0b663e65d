"""ZeroEval: a file per LLM, named after it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.tables.layouts.golden import GOLDEN, note, refusal, table, written

LARGE, SMALL = GOLDEN / "zeroeval" / "mock-70b.json", GOLDEN / "zeroeval" / "mock-7b-v1.5.json"


def test_outputs_are_samples_and_the_file_name_is_the_llm() -> None:
    read = table(SMALL)
    assert read.select("question", "sample").rows() == [(f"sums-{i}", k) for i in range(3) for k in range(2)]
    assert set(read["llm"]) == {"mock-7b-v1.5"}
    assert set(read["domain"]) == {"gsm"}
    assert read["gold"].unique(maintain_order=True).to_list() == ["5", "42", "4"]
    assert str(read["prompt"][0]).startswith("## Question: What is 2 + 3?")
    assert note(SMALL) == "ZeroEval results: 3 questions, 2 samples, LLM mock-7b-v1.5"


def test_several_files_are_several_llms_with_samples_of_the_same_questions() -> None:
    read = table([LARGE, SMALL])
    assert read.filter(read["question"] == "sums-0")["llm"].to_list() == ["mock-70b"] * 2 + ["mock-7b-v1.5"] * 2
    assert read.filter(read["question"] == "sums-0")["sample"].to_list() == [0, 1, 2, 3]
    assert "2 LLMs (mock-70b and mock-7b-v1.5)" in note([LARGE, SMALL])


def test_an_empty_output_is_a_sample_without_a_response() -> None:
    assert table(LARGE)["response"].null_count() == 1
    assert note(LARGE).endswith("1 of 5 without a response")


def test_a_session_that_stands_twice_is_refused(tmp_path: Path) -> None:
    rows = json.loads(SMALL.read_text())
    said = "session_id 'sums-0' of llm appears twice: keep one of them"
    assert refusal(written(tmp_path / "llm.json", [*rows, rows[0]])) == said


def test_an_output_that_is_no_text_is_named(tmp_path: Path) -> None:
    rows = json.loads(SMALL.read_text())
    rows[1]["output"] = [3]
    said = "session_id 'sums-1' of llm has an output that is not text: write the file again, or remove it"
    assert refusal(written(tmp_path / "llm.json", rows)) == said
