"""verifiers: the last sampled message is the response, and rewards are labels or scores."""

from __future__ import annotations

from pathlib import Path

import steelyard as sy
from tests.tables.layouts.golden import GOLDEN, note, records, refusal, table, written

TRACES = GOLDEN / "verifiers_traces" / "traces.jsonl"


def test_rollouts_are_samples_and_the_last_thing_said_is_the_response() -> None:
    read = table(TRACES)
    assert read["question"].to_list() == [q for q in "0123" for _ in range(3)]
    assert read["response"][3] == "The answer is 42."  # after a tool was called
    assert read["gold"].to_list() == ["5"] * 3 + ["42"] * 3 + ["4"] * 6
    assert set(read["llm"]) == {"org/mock"}
    assert set(read["domain"]) == {"sums"}
    assert read["prompt"][0] == "What is 2 + 3?"


def test_one_reward_of_several_is_not_taken_for_the_label_although_it_is_0_or_1() -> None:
    read = table(TRACES)
    assert "correct" not in read.columns
    assert read["exact"].to_list() == [True, True, False, True, False, True, False, False, True, True, True, False]
    assert read["style"].round(3).to_list()[:3] == [0.1, 0.2, 0.3]
    assert read["style"][11] is None


def test_the_only_reward_labels_where_it_is_0_or_1(tmp_path: Path) -> None:
    rows = records(TRACES)
    for row in rows:
        del row["traces"][0]["rewards"]["style"]
    read = table(written(tmp_path / "traces.jsonl", rows))
    assert read["correct"].to_list() == [True, True, False, True, False, True, False, False, True, True, True, False]


def test_a_rollout_that_failed_has_no_response_and_is_said() -> None:
    assert table(TRACES)["response"][11] is None
    assert note(TRACES) == (
        "verifiers traces: 4 questions, 3 rollouts, gold from answer, reward exact says yes or no (to read the "
        "labels from one: rename={'exact': 'correct'}), scores from style, 1 of 12 without a response"
    )


def test_traces_of_several_agents_are_not_mixed(tmp_path: Path) -> None:
    rows = records(TRACES)
    judge = rows[0]["traces"][0] | {"agent": {"name": "judge"}}
    rows[0]["traces"].append(judge)
    path = written(tmp_path / "traces.jsonl", rows)
    assert refusal(path) == "line 1 has traces of several agents (agent and judge): keep those of one"


def test_two_tasks_with_one_number_are_not_one_question(tmp_path: Path) -> None:
    rows = records(TRACES)
    rows[4]["task"] |= {"key": "other", "hash": "other"}
    path = written(tmp_path / "traces.jsonl", rows)
    assert refusal(path) == "line 5: two different tasks are called '0': pass the traces of one taskset"


def test_a_key_of_its_own_is_the_name_of_the_question(tmp_path: Path) -> None:
    rows = records(TRACES)[:1]
    rows[0]["task"]["key"] = "aime-2025-1"
    assert table(written(tmp_path / "traces.jsonl", rows))["question"].to_list() == ["aime-2025-1"]


def test_a_reward_can_be_chosen_as_the_label() -> None:
    pool = sy.read(TRACES, score="none", rename={"exact": "correct"})
    assert isinstance(pool, sy.LabelledPool)


def test_the_last_call_that_did_not_fail_says_how_a_response_ended(tmp_path: Path) -> None:
    rows = records(TRACES)
    rows[0]["traces"][0]["calls"] = [{"finish_reason": "tool_calls"}, {"finish_reason": "length"}, {"error": {}}]
    rows[1]["traces"][0]["calls"] = [{"finish_reason": "length"}, {"finish_reason": "stop"}]
    rows[2]["traces"][0]["calls"] = "none"
    read = table(written(tmp_path / "traces.jsonl", rows))
    assert sorted(read["finish"].drop_nulls()) == ["length", "stop"]
