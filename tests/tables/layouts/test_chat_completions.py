"""Saved chat completions: one, a list or lines of them; choices are samples and log-probabilities a score."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.tables.layouts.golden import GOLDEN, note, records, refusal, table, written

FOLDER = GOLDEN / "chat_completions"
ONE, LIST, REQUESTS = FOLDER / "one.json", FOLDER / "list.json", FOLDER / "requests.jsonl"


def test_one_object_is_one_question_with_its_choices_as_samples() -> None:
    read = table(ONE)
    assert read.select("question", "sample").rows() == [("0", i) for i in range(4)]
    assert read["response"][2] == "The answer is 6."
    assert read["tokens"].to_list() == [3] * 4


def test_log_probabilities_become_the_score_logprob() -> None:
    found = table(ONE)["logprob"].to_list()
    assert found == pytest.approx([math.exp(-0.1 * (i + 1)) for i in range(4)])


def test_a_list_and_lines_are_questions_by_their_place(tmp_path: Path) -> None:
    assert note(LIST) == "chat completions: 3 questions, 4 samples"
    lines = written(tmp_path / "lines.jsonl", json.loads(LIST.read_text()))
    assert table(lines).equals(table(LIST))


def test_equal_requests_are_samples_of_one_question() -> None:
    read = table(REQUESTS)
    assert note(REQUESTS) == "chat completions: 3 questions, 4 samples, 12 requests with 3 prompts"
    assert read["response"][:4].str.extract(r"is (\d)").to_list() == ["5", "5", "6", "5"]
    assert read["prompt"][0] == "What is 2 + 3?"


def test_several_files_are_questions_by_their_names(tmp_path: Path) -> None:
    one, two = json.loads(LIST.read_text())[:2]
    for name, completion in (("easy.json", one), ("hard.json", two)):
        (tmp_path / name).write_text(json.dumps(completion))
    assert set(table([tmp_path / "easy.json", tmp_path / "hard.json"])["question"]) == {"easy", "hard"}


def test_single_choices_without_requests_could_be_anything_and_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "lines.jsonl", [row["response"] for row in records(REQUESTS)])
    assert refusal(path) == (
        "no completion was saved with its request, so it is unknown which of them answer the same "
        "question: save the request too ({'request': ..., 'response': ...}), or send requests with n above 1"
    )


def test_a_question_and_a_gold_beside_the_response_are_carried_over(tmp_path: Path) -> None:
    rows = [{"question": "a", "gold": 5, "response": row["response"]} for row in records(REQUESTS)[:2]]
    read = table(written(tmp_path / "lines.jsonl", rows))
    assert read.select("question", "sample", "gold").rows() == [("a", 0, "5"), ("a", 1, "5")]


def test_a_completion_without_choices_is_named(tmp_path: Path) -> None:
    rows = [*json.loads(LIST.read_text()), {"error": {"message": "overloaded"}}]
    assert (
        refusal(written(tmp_path / "lines.jsonl", rows))
        == "completion 3 contains no response: remove it, or request it again"
    )


def test_a_refusal_is_a_sample_without_a_response(tmp_path: Path) -> None:
    completion = json.loads(ONE.read_text())
    completion["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "I cannot."}
    (tmp_path / "one.json").write_text(json.dumps(completion))
    assert table(tmp_path / "one.json")["response"].null_count() == 1
    assert note(tmp_path / "one.json").endswith("1 of 4 without a response")
