"""Estimates of what `generate` will spend: which samples they count, and what a probe may spend."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.gateway.test_relay import fixed
from tests.jobs.generating import ask_for, generate
from tests.jobs.test_spending import PRICE, planned
from tests.running import steelyard
from tests.upstreams import FaultUpstream

pytestmark = pytest.mark.usefixtures("key", "short_pauses")
CLOSED = "http://127.0.0.1:9/v1"  # no server listens there


@pytest.mark.parametrize("options", [("--dry-run", "--json"), ("--confirm-above", 1000, *PRICE, "--json")])
def test_a_run_that_never_began_is_estimated_with_the_new_questions(
    upstream: FaultUpstream, tmp_path: Path, options: tuple[object, ...]
) -> None:
    run = tmp_path / "run"
    failed = steelyard("generate", ask_for(tmp_path, 2), "--upstream", CLOSED, "--model", "good", "-n", 4, "-o", run)
    assert (failed.code, (run / "manifest.json").exists()) == (2, True)
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(json.dumps({"question": f"new{i}", "prompt": f"{i}?"}) + "\n" for i in range(5)))
    words = ["generate", questions, "--upstream", upstream.url, "--model", "good", "-n", 4, "-o", run, *options]
    assert planned(steelyard(*words))["samples"] == 20


def test_what_another_server_supports_is_not_assumed(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good", "-n", 4, "--dry-run", "--probe", 1)
    moved = upstream.url.replace("127.0.0.1", "localhost")
    estimates = []
    for url in (upstream.url, moved):
        words = ["--upstream", url, "--model", "good", "-n", 4, "-o", tmp_path / "run", "--dry-run", "--json"]
        estimates.append(planned(steelyard("generate", tmp_path / "questions.jsonl", *words))["requests"])
    assert estimates == [{"low": 2, "high": 2, "expected": 2}, {"low": 2, "high": 8, "expected": None}]


def test_the_upper_end_leaves_room_for_the_chat_template_of_the_server(upstream: FaultUpstream, tmp_path: Path) -> None:
    words = ("--prompt", "plain", "-n", 2, "--fan-out", "--json")
    estimate = planned(generate(upstream, tmp_path, "good", *words, "--dry-run"))["input_tokens"]
    spent = planned(generate(upstream, tmp_path, "good", *words))["spent"]
    assert estimate["low"] <= spent["prompt_tokens"] <= estimate["high"]


def test_equal_earlier_responses_do_not_promise_that_the_next_ones_are_equal(tmp_path: Path) -> None:
    choices = [{"message": {"content": "\\boxed{3}"}, "finish_reason": "stop"}]
    body = {"choices": choices, "usage": {"prompt_tokens": 7, "completion_tokens": 10}}
    with fixed(json.dumps(body).encode()) as url:
        words = ["--upstream", url, "--model", "m", "-n", 1, "-o", tmp_path / "run", "--json"]
        done = steelyard("generate", ask_for(tmp_path, 5), *words, "--dry-run", "--probe", 2)
    output = planned(done)["output_tokens"]
    assert output == pytest.approx({"low": 24, "high": 36, "expected": 30})
