"""Saved responses of the Responses API: the request or the metadata tells which of them answer the same question."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.tables.layouts.golden import GOLDEN, note, records, refusal, table, written

FOLDER = GOLDEN / "responses_api"
REQUESTS, METADATA = FOLDER / "requests.jsonl", FOLDER / "metadata.json"


def test_equal_requests_are_samples_of_one_question() -> None:
    read = table(REQUESTS)
    assert note(REQUESTS) == (
        "Responses API: 3 questions, 4 samples, 12 requests with 3 prompts, 1 of 12 without a response"
    )
    assert read["response"][:4].str.extract(r"is (\d)").to_list() == ["5", "5", "6", "5"]
    assert (read["prompt"][0], read["llm"][0], read["tokens"][0]) == ("What is 2 + 3?", "mock-1", 20)


def test_reasoning_is_not_read() -> None:
    assert table(REQUESTS)["response"][1] == "The answer is 5."


def test_another_instruction_or_conversation_is_another_question(tmp_path: Path) -> None:
    rows = records(REQUESTS)[:1] * 3
    rows = [{**row, "request": {**row["request"], name: "x"}} for row, name in zip(rows, "abc", strict=True)]
    assert table(written(tmp_path / "same.jsonl", rows))["question"].n_unique() == 1
    for name in ("instructions", "previous_response_id"):
        two = [{**rows[0], "request": {**rows[0]["request"], name: text}} for text in ("one", "two")]
        assert table(written(tmp_path / "two.jsonl", two))["question"].n_unique() == 2


def test_the_metadata_names_the_question_and_log_probabilities_are_a_score() -> None:
    read = table(METADATA)
    assert read["question"].to_list() == [q for q in ("2 + 3", "6 * 7", "9 - 5") for _ in range(4)]
    assert read["logprob"][:4].to_list() == pytest.approx([math.exp(-0.1 * (k + 1)) for k in range(4)])


def test_responses_alone_could_answer_anything_and_are_refused(tmp_path: Path) -> None:
    alone = [row["response"] for row in records(REQUESTS)]
    assert "put the question's id into the metadata" in refusal(written(tmp_path / "alone.jsonl", alone))


def test_what_is_no_response_is_named(tmp_path: Path) -> None:
    rows = [*records(REQUESTS)[:2], {"request": {}, "response": {"error": "x"}}]
    assert (
        refusal(written(tmp_path / "odd.jsonl", rows))
        == "response 2 contains no response: remove it, or request it again"
    )


def test_one_response_is_one_question(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(records(REQUESTS)[0]["response"]))
    assert table(path).height == 1
