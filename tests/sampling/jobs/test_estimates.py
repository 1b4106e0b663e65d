"""Estimates of the cost of `generate`: which samples they count, and how much a probe may spend."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.gateway.test_relay import fixed
from tests.running import steelyard
from tests.sampling.jobs.generating import ask_for, generate, samples, wait_for_samples
from tests.sampling.jobs.test_spending import PRICE, planned
from tests.upstreams import FaultUpstream, command, fault_upstream
from tests.waiting import PATIENCE

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
    arguments = ["generate", questions, "--upstream", upstream.url, "--model", "good", "-n", 4, "-o", run, *options]
    assert planned(steelyard(*arguments))["samples"] == 20


def test_the_abilities_of_another_server_are_not_assumed(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good", "-n", 4, "--dry-run", "--probe", 1)
    moved = upstream.url.replace("127.0.0.1", "localhost")
    estimates = []
    for url in (upstream.url, moved):
        arguments = ["--upstream", url, "--model", "good", "-n", 4, "-o", tmp_path / "run", "--dry-run", "--json"]
        estimates.append(planned(steelyard("generate", tmp_path / "questions.jsonl", *arguments))["requests"])
    assert estimates == [{"low": 2, "high": 2, "expected": 2}, {"low": 2, "high": 8, "expected": None}]


def test_the_upper_end_leaves_room_for_the_chat_template_of_the_server(upstream: FaultUpstream, tmp_path: Path) -> None:
    arguments = ("--prompt", "plain", "-n", 2, "--fan-out", "--json")
    estimate = planned(generate(upstream, tmp_path, "good", *arguments, "--dry-run"))["input_tokens"]
    spent = planned(generate(upstream, tmp_path, "good", *arguments))["spent"]
    assert estimate["low"] <= spent["prompt_tokens"] <= estimate["high"]


def test_equal_earlier_responses_do_not_promise_that_the_next_ones_are_equal(tmp_path: Path) -> None:
    choices = [{"message": {"content": "\\boxed{3}"}, "finish_reason": "stop"}]
    body = {"choices": choices, "usage": {"prompt_tokens": 7, "completion_tokens": 10}}
    with fixed(json.dumps(body).encode()) as url:
        arguments = ["--upstream", url, "--model", "m", "-n", 1, "-o", tmp_path / "run", "--json"]
        done = steelyard("generate", ask_for(tmp_path, 5), *arguments, "--dry-run", "--probe", 2)
    output = planned(done)["output_tokens"]
    assert output == pytest.approx({"low": 24, "high": 36, "expected": 30})


def test_a_probe_above_the_limit_is_not_sent(upstream: FaultUpstream, tmp_path: Path) -> None:
    before = len(upstream.entries())
    for more in ((), ("--dry-run",)):
        refused = generate(upstream, tmp_path, "good", "-n", 4, *PRICE, "--probe", 2, "--confirm-above", 0.0001, *more)
        assert (refused.code, "the cost of the probe could reach" in refused.err) == (2, True)
    assert (len(upstream.entries()), (tmp_path / "run").exists()) == (before, False)


def test_a_probe_counts_towards_the_limit(upstream: FaultUpstream, tmp_path: Path) -> None:
    arguments = ("-n", 4, "--max-tokens", 50, *PRICE, "--probe", 4)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    estimate = planned(generate(upstream, tmp_path / "a", "good", *arguments, "--dry-run", "--json", count=40))
    limit = estimate["cost"]["high"] + estimate["probe"]["cost"] / 2
    refused = generate(upstream, tmp_path / "b", "good", *arguments, "--confirm-above", limit, count=40)
    assert (refused.code, "the cost could reach" in refused.err) == (2, True)
    assert "Spent on the probe: 4 requests, 28 input and" in " ".join(refused.out.split())
    assert len(samples(tmp_path / "b")) == 16


def test_the_spending_of_a_probe_is_reported_beside_the_rest(upstream: FaultUpstream, tmp_path: Path) -> None:
    arguments = ("-n", 2, *PRICE, "--probe", 1, "--confirm-above", 100, "--json")
    made = planned(generate(upstream, tmp_path, "good", *arguments))
    assert (made["probe"]["requests"], made["spent"]["requests"]) == (1, 2)


def test_an_upstream_that_is_lost_in_a_probe_is_reported(upstream: FaultUpstream, tmp_path: Path) -> None:
    servers = ["--upstream", f"a={upstream.url},b={CLOSED}", "--model", "a=good,b=gone"]
    arguments = ["-n", 2, "-o", tmp_path / "run", "--dry-run", "--probe", 1]
    done = steelyard("generate", ask_for(tmp_path, 3), *servers, *arguments)
    assert (done.code, "stopped because" in done.out) == (2, True)
    assert "Spent: 1 request, 7 input and" in " ".join(done.out.split())


def test_an_interrupted_probe_prints_the_command_that_goes_on(tmp_path: Path) -> None:
    with fault_upstream(tmp_path) as upstream:
        upstream.allow(6)
        arguments = ["--upstream", upstream.url, "--model", "m", "-n", 2, "--fan-out", "-o", tmp_path / "run"]
        line, environment = command("generate", ask_for(tmp_path, 9), *arguments, "--dry-run", "--probe", 8)
        process = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_samples(tmp_path / "run", 4)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "Traceback" in err) == (130, False), err
    assert "Spent: " in out
    assert "To resume:" in out
