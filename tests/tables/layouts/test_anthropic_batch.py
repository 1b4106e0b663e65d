"""Results of Message Batches: what failed is noted, and the requests tell which of them ask the same."""

from __future__ import annotations

import json
from pathlib import Path

from tests.tables.layouts.golden import GOLDEN, note, records, refusal, table, written

FOLDER = GOLDEN / "anthropic_batch"
REQUESTS, RESULTS = FOLDER / "requests.json", FOLDER / "results.jsonl"


def test_requests_with_the_same_prompt_are_samples_of_one_question() -> None:
    read = table([REQUESTS, RESULTS])
    assert read.equals(table([RESULTS, REQUESTS]))
    assert read["question"].to_list() == [q for q in ("q0-s0", "q1-s0", "q2-s0") for _ in range(4)]
    assert read["response"][:4].str.extract(r"is (\d)").to_list() == ["5", "5", "6", "5"]
    assert read["prompt"][0] == "system: Be brief.\n\nuser: What is 2 + 3?"
    assert (read["llm"][0], read["tokens"][0]) == ("mock-1", 20)


def test_requests_that_failed_are_samples_without_a_response_and_are_noted() -> None:
    read = table([REQUESTS, RESULTS])
    assert read.filter(read["response"].is_null()).select("question", "sample").rows() == [("q1-s0", 1), ("q2-s0", 2)]
    assert note([REQUESTS, RESULTS]).endswith("2 of 12 requests failed (expired and invalid_request_error)")


def test_thinking_is_not_read() -> None:
    assert table([REQUESTS, RESULTS])["response"][1] == "The answer is 5."


def test_the_reason_why_a_reply_ended_is_read() -> None:
    finish = table([REQUESTS, RESULTS])["finish"]
    assert set(finish.drop_nulls()) == {"end_turn"}
    assert finish.null_count() == 2


def test_without_the_requests_each_is_a_question_and_the_note_says_how_to_join_them() -> None:
    assert table(RESULTS)["question"].n_unique() == 12
    assert "pass the input file too" in note(RESULTS)


def test_requests_as_lines_are_read_alike(tmp_path: Path) -> None:
    lines = written(tmp_path / "requests.jsonl", json.loads(REQUESTS.read_text())["requests"])
    assert table([lines, RESULTS]).equals(table([REQUESTS, RESULTS]))


def test_another_system_prompt_is_another_question(tmp_path: Path) -> None:
    requests = json.loads(REQUESTS.read_text())["requests"]
    requests[0]["params"]["system"] = [{"type": "text", "text": "Be long."}]
    lines = written(tmp_path / "requests.jsonl", requests)
    assert table([lines, RESULTS])["question"].n_unique() == 4


def test_requests_alone_and_results_of_another_batch_are_refused(tmp_path: Path) -> None:
    assert "contains only the requests of a batch" in refusal(REQUESTS)
    other = [row | {"custom_id": "other"} for row in records(RESULTS)[:1]]
    assert "'other' is not in the input file" in refusal([REQUESTS, written(tmp_path / "other.jsonl", other)])


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    rows = records(RESULTS)[:1]
    rows[0]["result"].pop("message")
    assert "custom_id 'q2-s3' is damaged (it has no 'message')" in refusal(written(tmp_path / "odd.jsonl", rows))
