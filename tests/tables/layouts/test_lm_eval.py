"""lm-evaluation-harness: repeats are samples, and the lines of several filters are one question."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.tables.layouts.golden import GOLDEN, note, records, refusal, table, written

DATE = "2026-11-16T04-00-00.000000"
SUMS, ONCE, CHOICE = (
    GOLDEN / "lm_eval" / f"samples_{task}_{DATE}.jsonl" for task in ("sums", "sums_once", "sums_choice")
)


def test_repeats_are_samples_and_every_question_counts_once_although_each_filter_has_a_line() -> None:
    read = table(SUMS)
    assert len(records(SUMS)) == 8
    assert read.height == 12
    assert read["question"].to_list() == [q for q in "0123" for _ in range(3)]
    assert read["sample"].to_list() == [0, 1, 2] * 4
    assert read["response"][:3].str.extract(r"is (\d+)").to_list() == ["5", "5", "6"]
    assert read["gold"].unique(maintain_order=True).to_list() == ["5", "42", "4"]
    assert read["prompt"][0] == "Q: What is 2 + 3?\nA:"
    assert "answer" not in read.columns  # read out of the responses, not taken from a filter


def test_the_filters_that_are_not_used_are_said() -> None:
    assert note(SUMS) == (
        "lm-eval samples: 4 questions, 3 repeats, filters strict-match and flexible-extract not used "
        "(answers are read from the responses)"
    )
    assert note(ONCE) == "lm-eval samples: 4 questions, 1 repeat"


def test_several_tasks_keep_their_questions_apart() -> None:
    read = table([SUMS, ONCE])
    assert read.height == 16
    assert read["question"].n_unique() == 8
    assert set(read["domain"]) == {"sums", "sums_once"}
    assert note([SUMS, ONCE]).startswith("lm-eval samples: 2 tasks, 8 questions, 1 to 3 repeats")


def test_log_likelihoods_are_no_responses() -> None:
    assert refusal(CHOICE) == (
        "doc_id 0 of sums_choice contains log-likelihoods and no response, so there is nothing to vote on: run a task "
        "that generates (output_type: generate_until) with repeats: 8 or more"
    )


def test_rolling_log_likelihoods_are_no_responses_either(tmp_path: Path) -> None:
    rolling = [{"doc_id": 0, "target": "", "resps": [["-31.5"]], "arguments": {"gen_args_0": {"arg_0": "A text."}}}]
    assert "log-likelihoods" in refusal(written(tmp_path / "samples_wiki.jsonl", rolling))


def test_two_runs_of_one_task_are_not_mixed(tmp_path: Path) -> None:
    later = shutil.copy(SUMS, tmp_path / "samples_sums_2026-11-17T04-00-00.000000.jsonl")
    assert "contain the task 'sums', from two runs or two LLMs: pass one of them" in refusal([SUMS, later])
    twice = written(tmp_path / "samples_sums.jsonl", records(SUMS) * 2)
    assert refusal(twice) == "doc_id 0 of sums appears twice with the filter 'strict-match': keep the lines of one run"


def test_a_filter_with_other_responses_is_another_run(tmp_path: Path) -> None:
    rows = records(SUMS)
    rows[4]["resps"] = [["4", "4", "4"]]
    said = "doc_id 0 of sums has other responses on its line with the filter 'flexible-extract': keep one run"
    assert refusal(written(tmp_path / "samples_sums.jsonl", rows)) == said


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("resps", None, "doc_id 0 of sums is damaged ('resps' is NoneType): write the file again, or remove it"),
        ("resps", [], "doc_id 0 of sums has 0 requests, but one is expected: leave this task out"),
        ("resps", [["a"], ["b"]], "doc_id 0 of sums has 2 requests, but one is expected: leave this task out"),
        ("resps", [[None]], "doc_id 0 of sums has a response that is not text: write the file again"),
        ("doc_id", None, "line 1 is damaged ('doc_id' is NoneType): write the file again, or remove it"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, field: str, value: object, said: str) -> None:
    first = records(SUMS)[0] | {field: value}
    assert refusal(written(tmp_path / "samples_sums.jsonl", [first])) == said


def test_a_list_of_targets_is_a_list_of_accepted_answers(tmp_path: Path) -> None:
    rows = records(ONCE)
    one = written(tmp_path / "samples_one.jsonl", [rows[0] | {"target": "['5']"}])
    assert table(one)["gold"].to_list() == ["5"]
    two = written(tmp_path / "samples_two.jsonl", [rows[0] | {"target": "['5', 'five']"}, rows[1]])
    assert table(two)["gold"].to_list()[0] == ["5", "five"]
    assert note(two).endswith("1 question accepts several answers")
    numbers = written(tmp_path / "samples_numbers.jsonl", [rows[0] | {"target": [5, 6]}])
    assert table(numbers)["gold"].to_list() == ["[5, 6]"]  # an answer itself, as a JSON list of numbers is


def test_arguments_of_older_versions_are_lists(tmp_path: Path) -> None:
    old = [row | {"arguments": [list(row["arguments"]["gen_args_0"].values())]} for row in records(ONCE)]
    assert table(written(tmp_path / "samples_sums_once.jsonl", old)).equals(table(ONCE))
