"""What a run has spent and will spend: requests, tokens and cost, recorded and estimated."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.sampling.cost_estimate import COVERAGE, Range, predicted, student_quantile
from tests.fault_upstream.asked import text_of
from tests.gateway.test_relay import fixed
from tests.gateway.test_usage import sure
from tests.running import Done, steelyard
from tests.runs.runs_small import small_run
from tests.sampling.jobs.generating import SUFFIX, ask_for, generate, samples
from tests.upstreams import CANARY, FaultUpstream, command
from tests.waiting import PATIENCE

pytestmark = pytest.mark.usefixtures("key", "short_pauses")
PRICE = ("--token-price", "1,2")


def tokens_of(count: int, n: int) -> int:
    """The tokens that the server counts for n samples of so many questions."""
    return sum(len(text_of(f"{i} + 1?{SUFFIX}", j).split()) for i in range(count) for j in range(n))


def planned(done: Done) -> dict[str, Any]:
    assert done.code == 0, done.err
    estimate: dict[str, Any] = json.loads(done.out)
    return estimate


@pytest.mark.parametrize(("options", "requests"), [((), 3), (("--fan-out",), 12)])
def test_a_run_and_its_status_say_what_was_spent(
    upstream: FaultUpstream, tmp_path: Path, options: tuple[str, ...], requests: int
) -> None:
    made = planned(generate(upstream, tmp_path, "good", "-n", 4, *PRICE, "--json", *options))
    usage = {"requests": requests, "samples": 12, "prompt_tokens": 7 * requests, "completion_tokens": tokens_of(3, 4)}
    cost = {"cost": pytest.approx((7 * requests + 2 * tokens_of(3, 4)) / 1e6), "currency": "USD"}
    assert made["spent"] == usage | {"uncounted": 0} | cost
    assert sy.status(tmp_path / "run")["spent"] == {"samples": {"": usage | {"uncounted": 0}}, "verifiers": {}}
    shown = steelyard("status", tmp_path / "run", *PRICE).out
    usage_line = f"{requests} requests, {7 * requests} input and {tokens_of(3, 4)} output tokens"
    spent = f"{usage_line}, cost {made['spent']['cost']:.4g} USD"
    assert f"Spent on samples: {spent}." in " ".join(shown.split())


def test_what_a_resumed_run_spends_is_added(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good", "-n", 2)
    again = planned(generate(upstream, tmp_path, "good", "-n", 4, "--json"))
    assert (again["spent"]["requests"], again["spent"]["samples"], again["spent"]["cost"]) == (3, 6, None)
    spent = sy.status(tmp_path / "run")["spent"]["samples"][""]
    assert (spent["requests"], spent["samples"], spent["completion_tokens"]) == (6, 12, tokens_of(3, 4))


def test_a_server_that_reports_no_usage_is_told_apart_from_one_that_bills_nothing(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    done = generate(upstream, tmp_path, "fault:no-usage", "-n", 1, "--no-logprobs", *PRICE)
    assert "3 requests, tokens not reported by the server." in " ".join(done.out.split())


def test_spending_of_a_run_of_an_older_version_is_not_recorded(tmp_path: Path) -> None:
    folder = small_run(tmp_path / "run")
    assert sy.status(folder)["spent"] == {"samples": {}, "verifiers": {}}
    assert "Spent on samples: not recorded." in steelyard("status", folder).out


def test_a_forged_usage_is_not_believed(tmp_path: Path) -> None:
    folder = small_run(tmp_path / "run", usage={"samples": -4, "prompt_tokens": 10**30, "completion_tokens": "many"})
    spent = sy.status(folder)["spent"]["samples"][""]
    assert spent == {"requests": 32, "samples": 0, "prompt_tokens": 0, "completion_tokens": 0, "uncounted": 32}


def test_several_upstreams_have_their_own_prices(upstream: FaultUpstream, tmp_path: Path) -> None:
    url = upstream.url
    questions, folder = ask_for(tmp_path, 2), tmp_path / "run"
    arguments: list[object] = ["generate", questions, "--upstream", f"a={url},b={url}", "--model", "a=good,b=also-good"]
    arguments += ["-o", folder, "-n", 2, "--token-price", "a=1,0", "--token-price", "b=0,0", "--json"]
    planned_cost = planned(steelyard(*arguments, "--dry-run"))
    assert planned_cost["samples"] == 8
    made = planned(steelyard(*arguments))
    assert made["spent"]["upstreams"]["a"]["cost"] == pytest.approx(14e-6)
    assert made["spent"]["cost"] == pytest.approx(14e-6)


def test_scores_and_their_estimate(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good", "-n", 2)
    judge = ["score", tmp_path / "run", "--verifier", "logprob", "--json"]
    assert planned(steelyard(*judge, "--dry-run"))["requests"]["high"] == 0
    before = len(upstream.entries())
    ask = ["score", tmp_path / "run", "--verifier", "p-true", "--upstream", upstream.url, "--model", "good", *PRICE]
    estimate = planned(steelyard(*ask, "--dry-run", "--json"))
    assert (estimate["requests"]["expected"], estimate["output_tokens"]["high"]) == (6, 6)
    assert 0 < estimate["cost"]["low"] < estimate["cost"]["expected"] < estimate["cost"]["high"]
    assert len(upstream.entries()) == before
    refused = steelyard(*ask, "--confirm-above", 1e-9)
    assert (refused.code, len(upstream.entries())) == (2, before)
    assert "raise --confirm-above" in refused.err


def test_estimating_the_scores_of_a_table_makes_no_run(upstream: FaultUpstream, tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"question": "a", "prompt": "1 + 1?", "response": "It is 2.", "logprobs": [-0.1]}\n')
    judge = ["score", table, "--verifier", "p-true", "--upstream", upstream.url, "--model", "good", *PRICE]
    assert planned(steelyard(*judge, "--dry-run", "--json"))["requests"]["expected"] == 1
    assert steelyard(*judge, "--confirm-above", 1e-9).code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]
    assert steelyard("score", table, "--verifier", "logprob").code == 0
    scored = planned(steelyard("score", table, "--verifier", "logprob", "--dry-run", "--json"))
    assert scored["samples"] == 0
    several = steelyard("score", tmp_path / "t.scored", table, *judge[2:], "--dry-run")
    assert "give it alone" in several.err


def test_a_dry_run_sends_and_writes_nothing(upstream: FaultUpstream, tmp_path: Path) -> None:
    before = len(upstream.entries())
    options = ("-n", 8, "--max-tokens", 100, "--dry-run")
    estimate = planned(generate(upstream, tmp_path, "good", *options, *PRICE, "--json"))
    assert (estimate["samples"], estimate["requests"]) == (24, {"low": 3, "high": 24, "expected": None})
    assert estimate["output_tokens"] == {"low": 24, "high": 2400, "expected": None}
    assert estimate["cost"]["high"] > 2 * 2400 / 1e6
    shown = generate(upstream, tmp_path, "good", *options)
    assert "Requests: 3 to 24 for 24 samples" in " ".join(shown.out.split())
    assert "--token-price" in shown.out
    assert "--probe 3" in shown.out
    assert len(upstream.entries()) == before
    assert not (tmp_path / "run").exists()


def test_a_probe_narrows_the_estimate_and_its_samples_are_used(upstream: FaultUpstream, tmp_path: Path) -> None:
    options = ("-n", 8, *PRICE, "--json")
    estimate = planned(generate(upstream, tmp_path, "good", *options, "--dry-run", "--probe", 5, count=40))
    assert len(samples(tmp_path)) == 40
    assert (estimate["samples"], estimate["requests"]["expected"]) == (280, 35)
    output = estimate["output_tokens"]
    assert output["low"] < output["expected"] < output["high"] < 280 * 50
    before = len(upstream.asked("good"))
    again = planned(generate(upstream, tmp_path, "good", *options, "--dry-run", "--probe", 5, count=40))
    assert (again, len(upstream.asked("good"))) == (estimate | {"probe": None}, before)
    assert estimate["probe"]["requests"] == 5
    made = planned(generate(upstream, tmp_path, "good", *options, count=40))
    assert made["spent"]["requests"] == 35
    assert output["low"] <= made["spent"]["completion_tokens"] <= output["high"]
    assert estimate["cost"]["low"] <= made["spent"]["cost"] <= estimate["cost"]["high"]
    finished = planned(generate(upstream, tmp_path, "good", *options, "--dry-run", count=40))
    assert (finished["samples"], finished["requests"]["high"], finished["cost"]["high"]) == (0, 0, 0)


def test_a_cost_above_the_limit_is_refused_without_a_terminal(upstream: FaultUpstream, tmp_path: Path) -> None:
    before = len(upstream.entries())
    refused = generate(upstream, tmp_path, "good", "-n", 4, *PRICE, "--confirm-above", 0.001)
    assert refused.code == 2
    assert "raise --confirm-above" in refused.err
    assert len(upstream.entries()) == before
    assert generate(upstream, tmp_path, "good", "-n", 4, *PRICE, "--confirm-above", 10).code == 0


@pytest.mark.parametrize(("answer", "code", "count"), [(b"n\n", 1, 0), (b"y\n", 0, 2)])
def test_a_terminal_is_asked(upstream: FaultUpstream, tmp_path: Path, answer: bytes, code: int, count: int) -> None:
    prompt = ["--model", "good", "-n", 2, *PRICE, "--confirm-above", 0, "-o", tmp_path / "run"]
    line, environment = command("generate", ask_for(tmp_path, 1), "--upstream", upstream.url, *prompt)
    ours, theirs = pty.openpty()
    running = subprocess.Popen(line, stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL, env=environment)
    try:
        os.write(ours, answer)
        assert running.wait(PATIENCE) == code
        assert b" USD, more than --confirm-above 0" in os.read(ours, 4096)
    finally:
        running.kill()
        running.wait()
        os.close(ours)
        os.close(theirs)
    assert (len(samples(tmp_path)) if count else 0) == count
    assert (tmp_path / "run").exists() == bool(count)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--confirm-above", 1), "--token-price"),
        (("--probe", 2), "--dry-run"),
        (("--dry-run", "--engine", "processes:2"), "--engine"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    upstream: FaultUpstream, tmp_path: Path, options: tuple[object, ...], message: str
) -> None:
    done = generate(upstream, tmp_path, "good", *options)
    assert (done.code, message in done.err) == (2, True), done.err


def test_a_dry_run_refuses_a_run_with_other_settings(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good", "-n", 2)
    done = generate(upstream, tmp_path, "good", "-n", 2, "--temperature", 0.1, "--dry-run")
    assert (done.code, "other settings" in done.err) == (2, True)


def test_ask_says_what_it_will_and_did_spend(upstream: FaultUpstream) -> None:
    before = len(upstream.entries())
    ask = [
        "ask",
        "1 + 1?",
        "--upstream",
        upstream.url,
        "--model",
        "good",
        "-n",
        4,
        "--max-tokens",
        50,
        *PRICE,
        "--json",
    ]
    estimate = planned(steelyard(*ask, "--dry-run"))
    assert (estimate["samples"], estimate["requests"]["expected"], estimate["output_tokens"]["high"]) == (4, 4, 200)
    assert steelyard(*ask, "--confirm-above", 0).code == 2
    assert len(upstream.entries()) == before
    spent = planned(steelyard(*ask))["spent"]
    assert (spent["requests"], spent["prompt_tokens"], spent["uncounted"]) == (4, 28, 0)
    assert spent["cost"] == pytest.approx((28 + 2 * spent["completion_tokens"]) / 1e6)
    assert CANARY not in str(spent)


def test_a_prediction_covers_what_comes() -> None:
    assert predicted([5.0], [2.0, 2.0]) == Range(0.0, float("inf"), 20.0)
    narrow, wide = predicted([9.0, 11.0] * 20, [1.0] * 10), predicted([9.0, 11.0], [1.0] * 10)
    assert narrow.expected == wide.expected == 100
    assert wide.low < narrow.low < 100 < narrow.high < wide.high


@pytest.mark.parametrize("counted", [True, False])
def test_what_scores_cost_is_recorded(upstream: FaultUpstream, tmp_path: Path, counted: bool) -> None:
    generate(upstream, tmp_path, "good", "-n", 2)
    usage = {"usage": {"prompt_tokens": 50, "completion_tokens": 1, "total_tokens": 51}} if counted else {}
    with fixed(sure(**usage)) as url:
        ask = ["score", tmp_path / "run", "--verifier", "p-true", "--upstream", url, "--model", "m", *PRICE, "--json"]
        spent = planned(steelyard(*ask))["spent"]
    expected = {"requests": 6, "samples": 6, "prompt_tokens": 300, "completion_tokens": 6, "uncounted": 0}
    assert spent == (expected | {"cost": pytest.approx(312e-6), "currency": "USD"} if counted else None)
    assert sy.status(tmp_path / "run")["spent"]["verifiers"] == ({"p-true": expected} if counted else {})


def test_a_server_that_counts_one_choice_of_several_is_not_believed(upstream: FaultUpstream, tmp_path: Path) -> None:
    words = ("-n", 8, "--no-logprobs", *PRICE, "--json")
    (tmp_path / "one").mkdir()
    spent = planned(generate(upstream, tmp_path / "one", "fault:slots@8", *words))["spent"]
    assert (spent["requests"], spent["uncounted"], spent["cost"]) == (3, 3, None)
    spent = planned(generate(upstream, tmp_path, "good", *words))["spent"]
    assert (spent["uncounted"], spent["completion_tokens"]) == (0, tokens_of(3, 8))


def test_students_quantile_is_the_exact_one_within_two_thousandths() -> None:
    from scipy.special import stdtrit

    for degrees in (*range(1, 40), 100, 1000):
        assert student_quantile(degrees) == pytest.approx(stdtrit(degrees, (1 + COVERAGE) / 2), rel=2e-3)
