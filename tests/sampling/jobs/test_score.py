"""steelyard score: durable, resumable, asks nothing twice."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from steelyard.runs.run import Run
from steelyard.sampling.verifiers.protocols import p_true
from steelyard.sampling.verifiers.runners.chat_server import PROBE
from tests.running import steelyard
from tests.runs.runs_small import small_run
from tests.sampling.verifiers.fault_verifier import share
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.upstreams import CANARY, command
from tests.waiting import PATIENCE, until

KILLS = int(os.environ.get("STEELYARD_KILLS", "8"))


def p_true_words(run: Path, server: FaultVerifier, *more: object) -> tuple[object, ...]:
    return ("score", run, "--verifier", "p-true", "--upstream", f"{server.url}/v1", "--model", "good", "--json", *more)


def questions_asked(server: FaultVerifier) -> Counter[str]:
    """How often each response was asked about; the probe does not count."""
    (probe,) = p_true.render(PROBE.question, PROBE.steps)
    return Counter(entry["text"] for entry in server.asked() if entry["text"] != probe["content"])


def journal(run: Path, kind: str) -> list[dict[str, Any]]:
    with Run.open(run) as opened:
        return [record for record in opened.records() if record["kind"] == kind]


def test_log_probability_needs_no_server_and_is_in_the_table(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    done = steelyard("score", run, "--verifier", "logprob")
    assert done.code == 0, done.err
    assert done.out.startswith("Verifier: recorded\nScored 32 responses; 0 were already scored.")
    table = pl.read_parquet(run / "table.parquet")
    expected = [math.exp(-0.1 * (1 + j)) for _ in range(4) for j in range(8)]
    assert table["logprob"].list.first().to_list() == pytest.approx(expected)
    assert table["logprob"].list.first().to_list() == pytest.approx(table["self_logprob"].to_list())


def test_a_run_without_samples_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"question": "a", "prompt": "1 + 1?"}\n')
    run = tmp_path / "run"
    server = ("--upstream", "http://127.0.0.1:1/v1", "--model", "m", "--retries", 0)
    assert steelyard("generate", tmp_path / "q.jsonl", *server, "-o", run, "-n", 2).code
    for more in ((), ("--json",), ("--dry-run",)):
        done = steelyard("score", run, "--verifier", "logprob", *more)
        assert (done.code, done.out) == (2, ""), more
        assert f"{run} has no samples to score" in done.err
        assert "repeat its 'steelyard generate' command" in done.err


def test_a_run_without_log_probabilities_lists_the_failures_and_stops_in_time(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", logprob=None)
    done = steelyard("score", run, "--verifier", "logprob", "--max-failures", "100%")
    assert done.code == 0
    assert "32 failed: the run recorded no log-probability" in done.out
    stopped = steelyard("score", run, "--verifier", "logprob", "--max-failures", 5)
    assert stopped.code == 2
    assert "stopped after 6 failures (6 times: the run recorded no log-probability)" in stopped.err
    assert len(journal(run, "score-failure")) == 32 + 6


def test_scores_are_journaled_with_split_and_mark_and_a_second_command_asks_nothing(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    with fault_verifier(tmp_path) as server:
        first = steelyard(*p_true_words(run, server))
        assert first.code == 0, first.err
        assert set(questions_asked(server).values()) == {1}
        before = len(server.asked())
        files = {file.name: file.read_bytes() for file in run.iterdir() if file.name != "lock"}
        again = steelyard(*p_true_words(run, server))
        assert len(server.asked()) == before, "not even the probe"
    assert {file.name: file.read_bytes() for file in run.iterdir() if file.name != "lock"} == files
    assert (json.loads(first.out)["new"], json.loads(again.out)["new"]) == (32, 0)
    for record in journal(run, "score"):
        assert record["verifier"] == "p-true"
        assert (record["split"], record["truncated"]) == ("whole", False)
        assert len(record["steps"]) == 1
    (note,) = journal(run, "note")
    assert (note["verifier"], note["model"], note["found"]["where"]) == ("p-true", "good", "chat")


def test_each_response_gets_its_own_score(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    with fault_verifier(tmp_path, delay=0.002) as server:
        assert steelyard(*p_true_words(run, server)).code == 0
    table = pl.read_parquet(run / "table.parquet")
    for row in table.iter_rows(named=True):
        (message,) = p_true.render(row["prompt"], [row["response"]])
        assert row["p-true"] == [pytest.approx(share(message["content"]))]


def test_responses_without_text_and_failed_samples_are_counted_and_not_asked_about(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=2, samples=3, response=" \n ")
    with Run.open(run, write=True) as opened:
        opened.add_now([{"kind": "failure", "question": "q0", "sample": 3, "reason": "HTTP 500", "attempts": 3}])
    with fault_verifier(tmp_path) as server:
        done = steelyard(*p_true_words(run, server))
        assert not server.asked()
    said = json.loads(done.out)
    assert (said["scored"], said["empty"], said["unsampled"]) == (0, 6, 1)


def test_failures_are_listed_and_tried_again(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=3, samples=2)
    with fault_verifier(tmp_path) as server:
        words = [*p_true_words(run, server)]
        words[words.index("good")] = "neither?What is 1"
        words += ["--max-failures", 2]
        first = json.loads(steelyard(*words).out)
        assert first["failures"] == {"no expected word is among the 20 likeliest first tokens": 2}
        assert first["new"] == 4
        asked = questions_asked(server)
        assert json.loads(steelyard(*words).out)["new"] == 0
        assert sum((questions_asked(server) - asked).values()) == 2, "only the failed ones"
    assert pl.read_parquet(run / "table.parquet")["p-true"].null_count() == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--split", "newlines"), "split was 'whole', now 'newlines'"),
        (("--model", "other"), "model was 'm', now 'other'"),
    ],
)
def test_other_settings_are_refused_for_the_same_column_and_taken_for_another(
    tmp_path: Path, more: tuple[str, ...], said: str
) -> None:
    run = small_run(tmp_path / "run", questions=1, samples=2)
    assert steelyard("score", run, "--verifier", "logprob").code == 0
    refused = steelyard("score", run, "--verifier", "logprob", *more)
    assert refused.code == 2
    assert said in refused.err
    assert "name another column with --as" in refused.err
    assert steelyard("score", run, "--verifier", "logprob", *more, "--as", "other").code == 0
    assert {"logprob", "other"} <= set(pl.read_parquet(run / "table.parquet").columns)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--verifier", "qwen"), "unknown verifier 'qwen': did you mean 'qwen-prm'?"),
        ((), "name a verifier with --verifier"),
        (
            ("--verifier", "qwen-prm"),
            "qwen-prm runs: --local for this machine, --upstream URL for a vLLM server",
        ),
        (("--verifier", "qwen-prm", "--local", "--upstream", "http://x"), "cannot be combined"),
        (("--verifier", "skywork-7b", "--upstream", "http://x"), "vLLM cannot serve skywork-7b: run it with --local"),
        (("--verifier", "p-true", "--local"), "p-true needs a chat server"),
        (("--verifier", "logprob", "--local"), "sends no request"),
        (("--verifier", "logprob", "--as", "answer"), "the table already has a column 'answer'"),
        (("--verifier", "logprob", "--split", "words"), "unknown split 'words'"),
        (("--verifier", "qwen-prm", "--upstream", "ftp://x"), "must begin with http"),
        (("--verifier", "qwen-prm", "--local", "--model", "./nowhere"), "error: "),
    ],
)
def test_mistakes_are_one_line_with_the_fix(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = steelyard("score", small_run(tmp_path / "run", questions=1, samples=1), *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_without_a_run_the_verifiers_are_listed() -> None:
    assert "qwen-prm800k" in steelyard("score").out
    listed = json.loads(steelyard("score", "--json").out)["verifiers"]
    assert {row["verifier"]: row["runs"] for row in listed}["skywork-7b"] == "--local"


def scores_there(run: Path) -> int:
    """How many scores are in the journal of a run now."""
    journal = run / "journal.jsonl"
    return journal.read_bytes().count(b'"kind":"score"') if journal.exists() else 0


@pytest.mark.long
def test_killed_at_random_and_run_again_it_loses_nothing_and_asks_little_twice(tmp_path: Path) -> None:
    calm, run = (small_run(tmp_path / name, questions=5 * KILLS, samples=8) for name in ("calm", "run"))
    rng = np.random.default_rng(0)
    kills = 0
    with fault_verifier(tmp_path, delay=0.05) as server:
        words, environment = command(*p_true_words(calm, server))
        subprocess.run(words, env=environment, check=True, capture_output=True)
        server.ledger.unlink()
        words, environment = command(*p_true_words(run, server))
        acknowledged: dict[tuple[str, int], Any] = {}
        while kills < KILLS:
            server.allow(30)  # of 40 per kill: it never finishes
            asked = len(server.asked())
            process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            until(lambda asked=asked: len(server.asked()) >= asked + 2)  # type: ignore[misc] # it is at work
            time.sleep(float(rng.uniform(0, 0.12)))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
            scores = {(record["question"], record["sample"]): record["steps"] for record in journal(run, "score")}
            assert acknowledged.items() <= scores.items(), "a score that was there is gone"
            acknowledged = scores
        assert 0 < len(acknowledged) < 40 * KILLS, "killed at work, not before or after it"
        server.allow()
        done = subprocess.run(words, env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        twice = sum(questions_asked(server).values()) - 40 * KILLS
    assert len(journal(run, "score")) == 40 * KILLS
    assert twice <= kills * 64, "no more than what was under way"
    ours, theirs = (pl.read_parquet(folder / "table.parquet") for folder in (run, calm))
    assert ours.equals(theirs)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_saves_and_prints_the_command_to_go_on(tmp_path: Path, number: signal.Signals) -> None:
    run = small_run(tmp_path / "run", questions=20, samples=20)
    with fault_verifier(tmp_path) as server:
        server.allow(70)
        words, environment = command(*p_true_words(run, server))
        process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until(lambda: scores_there(run))
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert "Finished scores are saved. To resume: steelyard score" in said
        assert "Traceback" not in said
        assert 0 < len(journal(run, "score")) < 400


def test_no_key_is_ever_written(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=2, samples=2)
    with fault_verifier(tmp_path) as server:
        words, environment = command(*p_true_words(run, server))
        done = subprocess.run(words, env=environment, capture_output=True, check=True)
        words[words.index("good")] = "401"
        refused = subprocess.run([*words, "--as", "x"], env=environment, capture_output=True, check=False)
    assert refused.returncode == 2
    written = b"".join(file.read_bytes() for file in run.rglob("*") if file.is_file())
    assert CANARY.encode() not in written + done.stdout + done.stderr + refused.stdout + refused.stderr
    assert os.environ.get("OPENAI_API_KEY") != CANARY


def test_a_column_without_scores_may_be_begun_anew_with_other_settings(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=1, samples=2, logprob=None)
    assert steelyard("score", run, "--verifier", "logprob").code == 2
    again = steelyard("score", run, "--verifier", "logprob", "--split", "newlines", "--max-failures", 2)
    assert again.code == 0, again.err


def test_a_scored_run_is_fitted_and_evaluated_like_a_file(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=60, samples=4)
    assert steelyard("score", run, "--verifier", "logprob").code == 0
    fitted = steelyard("fit", run, "--score", "logprob:last", "-o", tmp_path / "plan.json")
    assert fitted.code == 0, fitted.err
    words = ("--score", "logprob:last", "--method", "majority,logit", "--resamples", 0, "-n", 4, "--json")
    evaluated = steelyard("evaluate", run, *words)
    assert evaluated.code == 0, evaluated.err
    accuracy = {row["method"]: row["accuracy"] for row in json.loads(evaluated.out)["rows"]}
    assert accuracy["logit"] == 1.0, "the correct answers of small_run are the likelier ones"
