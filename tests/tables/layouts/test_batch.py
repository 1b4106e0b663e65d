"""Batches: each choice is a sample, what failed is said, and the input tells which requests ask the same."""

from __future__ import annotations

from pathlib import Path

from tests.tables.layouts.golden import GOLDEN, note, records, refusal, table, written

BATCH = GOLDEN / "batch"
OUTPUT, INPUT = BATCH / "openai_output.jsonl", BATCH / "openai_input.jsonl"
VLLM_OUTPUT, VLLM_INPUT = BATCH / "vllm_output.jsonl", BATCH / "vllm_input.jsonl"


def test_choices_are_samples_in_the_order_of_their_index() -> None:
    read = table(OUTPUT)
    assert read["response"][:4].str.extract(r"is (\d+)").to_list() == ["5", "5", "6", "5"]
    assert read["sample"][:4].to_list() == [0, 1, 2, 3]
    assert "prompt" not in read.columns
    assert set(read["llm"].drop_nulls()) == {"mock-1"}


def test_requests_that_failed_are_samples_without_a_response_and_are_said() -> None:
    read = table([INPUT, OUTPUT])
    assert read.group_by("question").len()["len"].to_list() == [4] * 5
    assert read.filter(read["response"].is_null())["question"].to_list() == ["request-3"] * 4 + ["request-4"] * 4
    assert note([INPUT, OUTPUT]) == (
        "batch output: 5 questions, 4 samples, 2 of 5 requests failed (status 429 and batch_expired)"
    )


def test_the_input_gives_the_prompts_whichever_file_comes_first() -> None:
    assert table([INPUT, OUTPUT]).equals(table([OUTPUT, INPUT]))
    assert table([INPUT, OUTPUT])["prompt"][0] == "What is 2 + 3?"


def test_requests_with_the_same_prompt_are_samples_of_one_question() -> None:
    read = table([VLLM_INPUT, VLLM_OUTPUT])
    assert read["question"].to_list() == [q for q in ("q0-s0", "q1-s0", "q2-s0") for _ in range(4)]
    assert note([VLLM_INPUT, VLLM_OUTPUT]) == (
        "batch output: 3 questions, 4 samples, 12 requests with 3 prompts, 1 of 12 requests failed (status 400)"
    )
    assert "pass the input file too, to join requests with the same prompt" in note(VLLM_OUTPUT)


def test_prompts_that_differ_in_an_image_only_are_two_questions(tmp_path: Path) -> None:
    asked = records(VLLM_INPUT)[:2]
    for i, request in enumerate(asked):
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{i}"}}
        request["body"]["messages"][0]["content"] = [{"type": "text", "text": "What is this?"}, image]
    source = [written(tmp_path / "in.jsonl", asked), written(tmp_path / "out.jsonl", records(VLLM_OUTPUT)[:2])]
    assert table(source)["question"].to_list() == ["q0-s0", "q0-s1"]


def test_reasoning_beside_the_content_is_not_read() -> None:
    assert table(VLLM_OUTPUT)["response"][0] == "The answer is 5."


def test_a_request_that_was_asked_again_has_its_later_response(tmp_path: Path) -> None:
    again = records(OUTPUT)[2] | {"custom_id": "request-3"}
    read = table([OUTPUT, written(tmp_path / "again.jsonl", [again])])
    assert read.filter(read["question"] == "request-3")["response"].null_count() == 0


def test_two_responses_to_one_request_are_refused(tmp_path: Path) -> None:
    copy = written(tmp_path / "copy.jsonl", records(OUTPUT))
    assert refusal([OUTPUT, copy]) == "custom_id 'request-2' appears twice with a response: keep one of them"


def test_the_input_of_another_batch_is_refused() -> None:
    said = "custom_id 'request-4' is not in the input file: pass the input of this batch"
    assert refusal([VLLM_INPUT, OUTPUT]) == said


def test_a_request_without_a_line_in_the_output_counts_as_failed(tmp_path: Path) -> None:
    short = written(tmp_path / "out.jsonl", records(OUTPUT)[1:])
    assert "2 of 5 requests failed (status 429 and no line)" in note([INPUT, short])


def test_the_input_alone_is_no_table() -> None:
    said = "it contains only the requests of a batch: pass the output file, with or without this one"
    assert refusal(INPUT) == said


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    rows = records(OUTPUT)
    rows[2]["response"]["body"]["choices"][1]["index"] = 3
    said = "custom_id 'request-2' has two choices with the same index: write the file again, or remove it"
    assert refusal(written(tmp_path / "out.jsonl", rows)) == said
    del rows[2]["response"]["body"]["choices"]
    said = "custom_id 'request-2' has no choices: it is not a chat completion; remove it, or write the file again"
    assert refusal(written(tmp_path / "out.jsonl", rows)) == said


def test_the_responses_api_is_read(tmp_path: Path) -> None:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 5."}]}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "6?"}]}
    body = {"object": "response", "model": "mock-1", "output": [thought, message], "usage": {"output_tokens": 7}}
    line = {"id": "1", "custom_id": "a", "response": {"status_code": 200, "body": body}, "error": None}
    read = table(written(tmp_path / "out.jsonl", [line]))
    assert read.select("question", "response", "tokens").rows() == [("a", "It is 5.", 7)]


def test_completions_have_their_text_in_the_choice(tmp_path: Path) -> None:
    body = {"object": "text_completion", "model": "mock-1", "choices": [{"index": 0, "text": "It is 5."}]}
    line = {"id": "1", "custom_id": "a", "response": {"status_code": 200, "body": body}, "error": None}
    assert table(written(tmp_path / "out.jsonl", [line]))["response"].to_list() == ["It is 5."]
