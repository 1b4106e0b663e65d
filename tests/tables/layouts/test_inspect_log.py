"""Inspect: epochs are samples, letters and numbers of scorers are labels and scores."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from tests.tables.layouts.golden import GOLDEN, note, refusal, table

EVAL, JSON = GOLDEN / "inspect_log" / "sums.eval", GOLDEN / "inspect_log" / "sums.json"


def _changed(path: Path, change: Any) -> Path:
    """The golden log after `change` was applied to each of its samples."""
    log = json.loads(JSON.read_text())
    for sample in log["samples"]:
        change(sample)
    path.write_text(json.dumps(log))
    return path


def test_both_formats_hold_the_same() -> None:
    assert table(EVAL).equals(table(JSON))
    assert note(EVAL) == "Inspect log: 3 questions, 3 epochs, correct from scorer match, scores from doubt"


def test_epochs_are_samples_and_a_list_of_one_target_is_the_gold() -> None:
    read = table(EVAL)
    assert read["question"].to_list() == [q for q in ("q0", "q1", "q2") for _ in range(3)]
    assert read["gold"].to_list() == ["5"] * 3 + ["42"] * 3 + ["4"] * 3
    assert set(read["llm"]) == {"mockllm/model"}
    assert set(read["domain"]) == {"sums"}
    assert read["prompt"][0] == "What is 2 + 3?"


def test_of_content_in_parts_the_text_is_the_response_and_the_reasoning_is_not() -> None:
    response = table(EVAL).row(1, named=True)["response"]
    assert response == "It is small. ANSWER: 5"


def test_letters_are_labels_and_a_sample_without_a_score_has_none() -> None:
    read = table(EVAL)
    assert read["correct"].to_list() == [True, True, False, True, False, True, True, False, False]
    assert read["doubt"].to_list() == [0.25, 0.5, 0.75, 0.25, 0.5, 0.75, 0.25, 0.5, None]


@pytest.mark.parametrize("values", ["CNP", ["Correct", "NOT_ATTEMPTED", "partial"]])
def test_no_answer_and_partly_correct_are_not_correct_and_reported(tmp_path: Path, values: Any) -> None:
    def grade(sample: dict[str, Any]) -> None:
        sample["scores"] = {"match": {"value": values[sample["epoch"] - 1]}}

    log = _changed(tmp_path / "log.json", grade)
    assert table(log)["correct"].to_list() == [True, False, False] * 3
    assert table(log)["grade"].to_list() == ["C", "N", "P"] * 3
    said = "correct from scorer match, 3 responses are graded partly correct and count as not correct, 3 not attempted"
    assert said in note(log)
    pool = sy.read_labelled(log, score="none")
    assert pool.answer_attempted is not None


def test_the_numbers_of_the_only_scorer_are_grades_if_they_are_halves_and_scores_otherwise(tmp_path: Path) -> None:
    def number(*values: float) -> Path:
        def grade(sample: dict[str, Any]) -> None:
            sample["scores"] = {"model_graded": {"value": values[sample["epoch"] - 1]}}

        return _changed(tmp_path / "log.json", grade)

    halves = number(1, 0.5, 0)
    assert table(halves)["correct"].to_list() == [True, False, False] * 3
    assert "3 responses are graded partly correct and count as not correct" in note(halves)
    scores = number(1, 0.25, 0)
    assert table(scores)["model_graded"].to_list() == [1.0, 0.25, 0.0] * 3
    assert "correct" not in table(scores).columns


def test_of_several_graders_one_is_chosen_by_renaming_it(tmp_path: Path) -> None:
    def two(sample: dict[str, Any]) -> None:
        grades = {"strict": "ININ"[sample["epoch"]], "lenient": "CNPC"[sample["epoch"]]}
        sample["scores"] = {name: {"value": value} for name, value in grades.items()}

    log = _changed(tmp_path / "log.json", two)
    assert "correct" not in table(log).columns
    assert "strict and lenient say yes or no (to read the labels from one: rename={'strict': 'correct'})" in note(log)
    with pytest.warns(sy.errors.SteelyardNote, match="3 responses are graded partly correct and count as not correct"):
        pool = sy.read_labelled(log, rename={"lenient": "correct"}, score="none")
    assert pool.correct.any()
    assert pool.answer_attempted is not None


def test_of_several_scorers_that_label_none_is_chosen(tmp_path: Path) -> None:
    def two(sample: dict[str, Any]) -> None:
        sample["scores"] = {"match": {"value": "C"}, "answer": {"value": 0}}

    log = _changed(tmp_path / "log.json", two)
    read = table(log)
    assert "correct" not in read.columns
    assert set(read["match"]) == {True}
    assert set(read["scorer answer"]) == {False}
    assert "match and scorer answer say yes or no (to read the labels from one: rename={'match'" in note(log)


def test_labels_with_gaps_are_not_used(tmp_path: Path) -> None:
    def gap(sample: dict[str, Any]) -> None:
        if sample["id"] == "q1":
            sample["scores"] = None

    log = _changed(tmp_path / "log.json", gap)
    assert "correct" not in table(log).columns
    assert "scorer match not used as correct, because it left 3 responses unscored" in note(log)


def test_a_sample_that_failed_has_no_response_and_is_not_correct(tmp_path: Path) -> None:
    def fail(sample: dict[str, Any]) -> None:
        if (sample["id"], sample["epoch"]) == ("q0", 1):
            sample |= {"error": {"message": "timed out", "traceback": ""}, "scores": None}

    read = table(_changed(tmp_path / "log.json", fail))
    assert read.row(0, named=True)["response"] is None
    assert read["correct"][0] is False
    assert "1 of 9 without a response" in note(tmp_path / "log.json")


def test_long_texts_are_fetched_from_the_attachments(tmp_path: Path) -> None:
    def attach(sample: dict[str, Any]) -> None:
        sample["output"]["choices"][0]["message"]["content"] = "attachment://abc"
        sample["attachments"] = {"abc": f"ANSWER: {sample['epoch']}"}

    assert table(_changed(tmp_path / "log.json", attach))["response"][:2].to_list() == ["ANSWER: 1", "ANSWER: 2"]

    def lose(sample: dict[str, Any]) -> None:
        attach(sample)
        sample["attachments"] = {}

    said = "sample 'q0', epoch 1 refers to an attachment that is not in the log: read the log as Inspect wrote it"
    assert refusal(_changed(tmp_path / "log.json", lose)).startswith(said)


def test_several_choices_of_which_one_was_scored_are_refused(tmp_path: Path) -> None:
    def double(sample: dict[str, Any]) -> None:
        sample["output"]["choices"] *= 2

    said = "sample 'q0', epoch 1 has 2 choices, of which one was scored: use epochs instead of num_choices"
    assert refusal(_changed(tmp_path / "log.json", double)) == said


def test_one_evaluation_given_twice_is_refused() -> None:
    said = "sample 'q0', epoch 1 of sums appears twice for mockllm/model: pass one log per task and LLM"
    assert refusal([EVAL, JSON]) == said


def test_a_log_that_did_not_end_well_says_so(tmp_path: Path) -> None:
    log = json.loads(JSON.read_text()) | {"status": "cancelled"}
    (tmp_path / "log.json").write_text(json.dumps(log))
    assert note(tmp_path / "log.json").endswith("the log of sums ended as cancelled")


def test_archives_packed_as_older_versions_did_are_read(tmp_path: Path) -> None:
    log = json.loads(JSON.read_text())
    with zipfile.ZipFile(tmp_path / "old.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in log.pop("samples"):
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(log))
    assert table(tmp_path / "old.eval").equals(table(JSON))


@pytest.mark.parametrize("length", [0, 100, 15_000])
def test_a_damaged_archive_is_one_line(tmp_path: Path, length: int) -> None:
    (tmp_path / "cut.eval").write_bytes(EVAL.read_bytes()[:length])
    assert "cut.eval cannot be read as a zip archive" in refusal(tmp_path / "cut.eval")


def test_an_archive_with_changed_bytes_is_refused(tmp_path: Path) -> None:
    content = bytearray(EVAL.read_bytes())
    with zipfile.ZipFile(EVAL) as archive:
        at = archive.getinfo("samples/q0_epoch_1.json").header_offset + 200
    content[at] ^= 255
    (tmp_path / "changed.eval").write_bytes(content)
    assert "samples/q0_epoch_1.json cannot be read" in refusal(tmp_path / "changed.eval")


def test_an_archive_without_samples_says_how_to_get_them(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "empty.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    assert refusal(tmp_path / "empty.eval").endswith("contains no samples: run the evaluation with log_samples")


def test_several_targets_are_accepted_answers_and_label_by_any_of_them(tmp_path: Path) -> None:
    def change(sample: dict[str, Any]) -> None:
        sample["scores"] = None
        sample["target"] = ["five", "5"] if sample["id"] == "q0" else sample["target"]

    path = _changed(tmp_path / "log.json", change)
    assert table(path)["gold"].to_list()[2:4] == [["five", "5"], ["42"]]
    assert "1 question accepts several answers" in note(path)
    before = _changed(tmp_path / "before.json", lambda sample: sample.update(scores=None))
    pools = [sy.read_labelled(each, score="none") for each in (path, before)]
    assert pools[0].correct.tolist() == pools[1].correct.tolist()
    assert pools[0].correct.any()
