"""steelyard generate: every sample once, whatever the server does and whoever kills us; the ledger is the oracle."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from steelyard.runs.run import Run
from tests.fault_upstream import text_of
from tests.running import Done, steelyard, unmeasured
from tests.upstreams import CANARY, FaultUpstream, command, fault_upstream

KILLS = int(os.environ.get("STEELYARD_KILLS", "6"))
SUFFIX = "\n\nPlease reason step by step, and put your final answer within \\boxed{}."


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultUpstream]:
    with fault_upstream(tmp_path_factory.mktemp("upstream")) as server:
        yield server


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)


def ask_for(folder: Path, count: int, *, bad: int = 0) -> Path:
    """Questions; the first `bad` of them hold the word BAD."""
    path = folder / "questions.jsonl"
    rows = [{"question": f"q{i}", "prompt": f"{i} + 1?{' BAD' * (i < bad)}", "gold": str(i % 5)} for i in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def generate(upstream: FaultUpstream, folder: Path, model: str, *words: object, count: int = 3, bad: int = 0) -> Done:
    questions = ask_for(folder, count, bad=bad)
    return steelyard("generate", questions, "--upstream", upstream.url, "--model", model, "-o", folder / "run", *words)


def failures(folder: Path) -> dict[Any, str]:
    with Run.open(folder / "run") as run:
        return run.state.samples.failed


def samples(folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    with Run.open(folder / "run") as run:
        return {(record["question"], record["sample"]): record for record in run.samples()}


def test_every_sample_is_drawn_once_with_its_own_seed(upstream: FaultUpstream, tmp_path: Path) -> None:
    done = generate(upstream, tmp_path, "good-1", "-n", 8, "--seed", 100)
    assert done.code == 0, done.err
    assert "24 of 24 samples" in done.out
    asked = upstream.asked("good-1")
    assert [(entry["n"], entry["seed"], entry["temperature"], entry["top_p"]) for entry in asked] == [
        (8, 100, 0.7, 0.9)
    ] * 3
    for (question, i), record in samples(tmp_path).items():
        prompt = f"{question[1:]} + 1?{SUFFIX}"
        assert record["response"] == text_of(prompt, 100 + i)
        assert record["seed"] == 100 + i
        assert (record["finish"], record["attempts"], record["model"]) == ("stop", 1, "good-1")
        assert record["tokens"] == len(record["response"].split())
        assert -0.4 < record["logprob"] < 0
    table = pl.read_parquet(tmp_path / "run" / "table.parquet")
    assert table.height == 24
    assert table["correct"].null_count() == 0


def test_a_finished_run_asks_nothing_and_changes_nothing(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good-2", "-n", 4)
    before = len(upstream.entries())
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "run").iterdir()}
    done = generate(upstream, tmp_path, "good-2", "-n", 4)
    assert done.code == 0
    assert "Nothing to ask: all 12 samples" in done.out
    assert len(upstream.entries()) == before
    after = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "run").iterdir()}
    assert {name: after.get(name) for name in files if name != "lock"} == {
        name: value for name, value in files.items() if name != "lock"
    }


def test_more_samples_are_added_to_those_there(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good-3", "-n", 2)
    done = generate(upstream, tmp_path, "good-3", "-n", 5)
    assert done.code == 0, done.err
    assert set(upstream.samples("good-3").values()) == {1}
    assert len(samples(tmp_path)) == 15


def test_fan_out_asks_for_every_sample_by_itself(upstream: FaultUpstream, tmp_path: Path) -> None:
    assert generate(upstream, tmp_path, "good-4", "-n", 5, "--fan-out", "--no-logprobs").code == 0
    asked = upstream.asked("good-4")
    assert sorted((entry["n"], entry["seed"]) for entry in asked if entry["prompt"].startswith("0")) == [
        (None, seed) for seed in range(5)
    ]
    assert {entry["logprobs"] for entry in asked} == {None}
    assert all(record["tokens"] for record in samples(tmp_path).values())  # counted by the server


def test_with_and_without_n_the_samples_are_the_same(upstream: FaultUpstream, tmp_path: Path) -> None:
    texts = []
    for i, words in enumerate([(), ("--fan-out",)]):
        folder = tmp_path / str(i)
        folder.mkdir()
        generate(upstream, folder, "good-5", "-n", 6, *words)
        texts.append({key: record["response"] for key, record in samples(folder).items()})
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("model", "requests"), [("fault:no-n", 24), ("fault:slots@3", 9), ("fault:picky@n", 24)])
def test_a_server_without_n_is_asked_as_often_as_it_needs(
    upstream: FaultUpstream, tmp_path: Path, model: str, requests: int
) -> None:
    assert generate(upstream, tmp_path, model, "-n", 8).code == 0
    assert len(upstream.asked(model)) == requests
    assert set(upstream.samples(model).values()) == {1}
    assert len(samples(tmp_path)) == 24


def test_what_was_found_about_the_server_is_remembered(upstream: FaultUpstream, tmp_path: Path) -> None:
    model = "fault:slots@2"
    generate(upstream, tmp_path, model, "-n", 4)
    probes = len(upstream.asked(model, probes=True)) - len(upstream.asked(model))
    ask_for(tmp_path, 3)
    (tmp_path / "run" / "journal.jsonl").write_bytes(
        b"".join((tmp_path / "run" / "journal.jsonl").read_bytes().splitlines(keepends=True)[:-2])
    )
    assert generate(upstream, tmp_path, model, "-n", 4).code == 0
    assert len(upstream.asked(model, probes=True)) - len(upstream.asked(model)) == probes


def test_a_server_that_loses_n_midway_is_found_out(upstream: FaultUpstream, tmp_path: Path) -> None:
    """The probe sees n work; for the questions it is ignored, or has fewer slots."""
    for i, model in enumerate(("fault:no-n?1?", "fault:slots@2?1?")):
        folder = tmp_path / str(i)
        folder.mkdir()
        done = generate(upstream, folder, model, "-n", 6)
        assert done.code == 0, done.err
        assert len(samples(folder)) == 18


@pytest.mark.parametrize(
    "kind",
    ["500", "502", "reset", "cut@40", "chunk-cut", "bad-chunk", "no-http", "garbage", "html", "empty", "null", "error",
     "choices-null", "choices-empty", "message-null", "content-number", "deep", "digits", "huge@40", "crowd", "zipped"],
)  # fmt: skip
def test_a_fault_that_passes_costs_a_try_and_no_sample(upstream: FaultUpstream, tmp_path: Path, kind: str) -> None:
    done = generate(upstream, tmp_path, f"fault:{kind}!?BAD", "-n", 2, count=3, bad=1)
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    found = samples(tmp_path)
    assert len(found) == 6
    assert found["q1", 0]["attempts"] == 1
    assert upstream.samples(f"fault:{kind}!?BAD")[f"0 + 1? BAD{SUFFIX}", 0] >= 2


@pytest.mark.parametrize("kind", ["500", "html", "choices-empty", "error", "reset"])
def test_a_fault_that_stays_is_a_failed_sample_after_three_tries(
    upstream: FaultUpstream, tmp_path: Path, kind: str
) -> None:
    model = f"fault:{kind}?BAD"
    done = generate(upstream, tmp_path, model, "-n", 2, "--max-failures", "50%", count=3, bad=1)
    assert done.code == 0, done.err
    assert "2 samples failed; they stay in the table" in done.out
    assert set(failures(tmp_path)) == {("q0", 0), ("q0", 1)}
    tries = [entry for entry in upstream.asked(model) if "BAD" in entry["prompt"]]
    assert len(tries) == 3
    table = pl.read_parquet(tmp_path / "run" / "table.parquet").sort("question", "sample")
    assert table.height == 6
    assert table["failure"].is_null().to_list() == [False, False, True, True, True, True]
    assert table["answer"].head(2).null_count() == 2


def test_failed_samples_are_tried_again_by_the_same_command(upstream: FaultUpstream, tmp_path: Path) -> None:
    model = "fault:500!?BAD"
    words = ("-n", 2, "--seed", 5, "--retries", 0, "--max-failures", 4)
    assert "2 samples failed" in generate(upstream, tmp_path, model, *words, bad=1).out
    done = generate(upstream, tmp_path, model, *words, bad=1)
    assert "6 of 6 samples (2 samples now" in done.out
    assert not failures(tmp_path)


def test_a_question_that_is_refused_is_asked_twice_at_most_and_the_others_go_on(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    model = "fault:422?BAD"
    done = generate(upstream, tmp_path, model, "-n", 8, "--max-failures", "40%", bad=1)
    assert done.code == 0, done.err
    assert len([entry for entry in upstream.asked(model) if "BAD" in entry["prompt"]]) == 2
    assert failures(tmp_path)["q0", 7] == "HTTP 422: no 422 today, key was ***"
    assert len(samples(tmp_path)) == 16


@pytest.mark.parametrize("status", [401, 404, 422])
def test_a_server_that_refuses_everything_is_one_line(upstream: FaultUpstream, tmp_path: Path, status: int) -> None:
    done = generate(upstream, tmp_path, f"fault:{status}", "-n", 4)
    assert done.code == 2
    assert done.err.startswith(
        f"error: {upstream.url} refuses to sample: HTTP {status}: no {status} today, key was ***"
    )
    assert done.err.count("\n") == 1
    assert not upstream.asked(f"fault:{status}")


def test_a_key_that_expires_midway_stops_the_run_at_once(upstream: FaultUpstream, tmp_path: Path) -> None:
    done = generate(upstream, tmp_path, "fault:401?BAD", "-n", 2, "--concurrency", 1, count=20, bad=3)
    assert done.code == 2
    assert "HTTP 401" in done.err
    assert len(upstream.asked("fault:401?BAD")) == 1


def test_too_many_failures_stop_the_run_and_say_why(upstream: FaultUpstream, tmp_path: Path) -> None:
    words = ("-n", 1, "--retries", 0, "--concurrency", 1, "--max-failures", 2)
    done = generate(upstream, tmp_path, "fault:html?BAD", *words, count=50, bad=50)
    assert done.code == 2
    assert "3 of 50 samples failed, more than --max-failures 2; the last reason: the reply is HTML" in done.err
    assert len(upstream.asked("fault:html?BAD")) < 10


def test_a_busy_server_is_left_alone_as_long_as_it_says(upstream: FaultUpstream, tmp_path: Path) -> None:
    model = "fault:429@0.4!"
    done = generate(upstream, tmp_path, model, "-n", 1, "--fan-out", "--retries", 0, count=6)
    assert done.code == 0, done.err
    assert len(samples(tmp_path)) == 6
    assert {record["attempts"] for record in samples(tmp_path).values()} == {2}


def test_a_server_that_is_always_busy_ends_in_failures_that_say_so(upstream: FaultUpstream, tmp_path: Path) -> None:
    model = "fault:503@0.01?BAD"
    done = generate(upstream, tmp_path, model, "-n", 1, "--max-failures", "100%", count=2, bad=1)
    assert done.code == 0, done.err
    assert failures(tmp_path) == {("q0", 0): "HTTP 503: no 503 today, key was ***"}
    assert len([entry for entry in upstream.asked(model) if "BAD" in entry["prompt"]]) == 21


@pytest.mark.parametrize("kind", ["silent", "slow@0.1"])
def test_a_silent_server_costs_the_deadline_and_one_sample(upstream: FaultUpstream, tmp_path: Path, kind: str) -> None:
    words = ("-n", 1, "--try-timeout", 0.3, "--retries", 1, "--max-failures", 1)
    begin = time.monotonic()
    done = generate(upstream, tmp_path, f"fault:{kind}?BAD", *words, bad=1)
    assert done.code == 0, done.err
    assert failures(tmp_path) == {("q0", 0): "no answer within 0.3 s"}
    assert time.monotonic() - begin < 20


def test_a_sample_has_a_deadline_for_all_its_tries(upstream: FaultUpstream, tmp_path: Path) -> None:
    words = ("-n", 1, "--sample-timeout", 0.5, "--retries", 9, "--max-failures", 1)
    done = generate(upstream, tmp_path, "fault:silent?BAD", *words, bad=1)
    assert done.code == 0, done.err
    assert set(failures(tmp_path)) == {("q0", 0)}


def test_a_server_that_goes_away_stops_the_run_without_failures(tmp_path: Path) -> None:
    with fault_upstream(tmp_path, delay=0.05) as upstream:
        words, environment = command(
            "generate", ask_for(tmp_path, 200), "--upstream", upstream.url, "--model", "m", "-n", 2, "--concurrency", 4,
            "-o", tmp_path / "run",
        )  # fmt: skip
        process = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
        _wait_for_samples(tmp_path / "run", 10)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "no connection to" in said or "connection broke" in said
    assert said.count("\n") == 1
    assert len(samples(tmp_path)) >= 10


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--max-failures", "many"), "cannot read --max-failures 'many'"),
        (("--temperature", "nan"), "temperature"),
        (("-n", 0), "-n is at least 1"),
        (("--prompt", "no-such"), "no prompt 'no-such'"),
        (("--answers", "no-such"), "no-such"),
        (("--key-env", "NO_SUCH_KEY"), "no key in $NO_SUCH_KEY"),
    ],
)
def test_a_mistake_in_the_words_makes_no_run(
    upstream: FaultUpstream, tmp_path: Path, words: tuple[object, ...], says: str
) -> None:
    done = generate(upstream, tmp_path, "good", *words)
    assert done.code == 2
    assert says in done.err
    assert not (tmp_path / "run").exists()


def test_a_model_must_be_named(upstream: FaultUpstream, tmp_path: Path) -> None:
    done = steelyard("generate", ask_for(tmp_path, 1), "--upstream", upstream.url, "-o", tmp_path / "run")
    assert done.code == 2
    assert "--model" in done.err


def test_other_settings_are_refused_and_fork_starts_a_run_beside(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good-6", "-n", 2)
    done = generate(upstream, tmp_path, "good-6", "-n", 2, "--temperature", 1)
    assert done.code == 2
    assert "params.temperature" in done.err
    assert "--fork" in done.err
    done = generate(upstream, tmp_path, "good-6", "-n", 2, "--temperature", 1, "--fork", tmp_path / "other")
    assert done.code == 0, done.err
    assert Run.open(tmp_path / "other").manifest.params["temperature"] == 1


def test_a_run_in_which_nothing_was_drawn_may_get_other_settings(upstream: FaultUpstream, tmp_path: Path) -> None:
    assert generate(upstream, tmp_path, "fault:404", "-n", 2).code == 2
    done = generate(upstream, tmp_path, "good-11", "-n", 1, "--seed", 3)
    assert done.code == 0, done.err
    with Run.open(tmp_path / "run") as run:
        assert (run.manifest.model, run.manifest.n, run.manifest.seed) == ("good-11", 1, 3)


def test_a_full_disk_is_one_line_and_the_same_command_goes_on(tmp_path: Path) -> None:
    with fault_upstream(tmp_path) as upstream:
        words, environment = command(
            "generate",
            ask_for(tmp_path, 40),
            "--upstream",
            upstream.url,
            "--model",
            "m",
            "-n",
            4,
            "-o",
            tmp_path / "run",
        )

        def small() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))

        environment = unmeasured(environment)
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, preexec_fn=small)
        assert done.returncode == 2
        assert "File too large" in done.stderr
        assert done.stderr.count("\n") == 1
        there, position = set(samples(tmp_path)), len(upstream.entries())
        assert 0 < len(there) < 160
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        assert "160 of 160 samples" in done.stdout
        assert not _asked_after(upstream, position) & there


def test_a_fork_with_more_questions_asks_only_for_those(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good-10", "-n", 2, count=2)
    done = generate(upstream, tmp_path, "good-10", "-n", 2, "--fork", tmp_path / "other", count=5)
    assert done.code == 0, done.err
    assert "10 of 10 samples (6 samples now" in done.out
    assert set(upstream.samples("good-10").values()) == {1}


def test_the_questions_that_are_asked_are_part_of_the_run(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good-7", "-n", 1)
    done = generate(upstream, tmp_path, "good-7", "-n", 1, "--limit", 2)
    assert done.code == 2
    assert "questions_sha256" in done.err


def test_choices_are_asked_for_and_read_as_choices(upstream: FaultUpstream, tmp_path: Path) -> None:
    row = {"question": "Which?", "options": ["x", "y"], "answer": "B", "category": "law", "question_id": 7}
    path = tmp_path / "mmlu.jsonl"
    path.write_text(json.dumps(row))
    words = ("--upstream", upstream.url, "--model", "good-8", "-n", 1, "-o", tmp_path / "run")
    done = steelyard("generate", path, *words)
    assert done.code == 0, done.err
    assert upstream.asked("good-8")[0]["prompt"].startswith("Which?\n\nOptions:\nA. x\nB. y\n\nThink step by step")
    assert Run.open(tmp_path / "run").manifest.answers == "choice"


def test_json_is_one_object(upstream: FaultUpstream, tmp_path: Path) -> None:
    words = ("-n", 2, "--json", "--max-failures", "50%")
    found = json.loads(generate(upstream, tmp_path, "fault:html?BAD", *words, bad=1).out)
    assert (found["wanted"], found["samples"], found["failed"], found["stopped"]) == (6, 4, 2, False)
    assert found["reasons"] == {"the reply is HTML": 2}
    assert found["again"].startswith("steelyard generate ")


def test_a_log_has_plain_lines_now_and_then(
    upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.cli.live.QUIET", 0.0)
    done = generate(upstream, tmp_path, "fault:429@1!?BAD", "-n", 2, count=20, bad=1)
    assert done.code == 0, done.err
    assert re.search(
        r"^Sampling: \d+/40, [\d.,]+ samples/s, [\d,]+ tokens/s, the server is busy, waiting 1 s$", done.err, re.M
    )


def test_text_no_file_can_hold_is_mended_and_kept(upstream: FaultUpstream, tmp_path: Path) -> None:
    assert generate(upstream, tmp_path, "fault:surrogate", "-n", 1).code == 0
    table = pl.read_parquet(tmp_path / "run" / "table.parquet")
    assert table["answer"].to_list() == ["3"] * 3
    assert "\ufffd" in table["response"][0]


def test_many_samples_at_temperature_0_are_worth_a_warning(upstream: FaultUpstream, tmp_path: Path) -> None:
    assert "at temperature 0" in generate(upstream, tmp_path, "good-9", "-n", 2, "--temperature", 0).err


def _wait_for_samples(run: Path, count: int) -> None:
    journal = run / "journal.jsonl"
    end = time.monotonic() + 60
    while not (journal.exists() and journal.read_bytes().count(b'"kind":"sample"') >= count):
        assert time.monotonic() < end
        time.sleep(0.01)


def _asked_after(upstream: FaultUpstream, position: int) -> set[tuple[str, int]]:
    """Which (question, sample) the ledger has after a position."""
    return {
        ("q" + entry["prompt"].split()[0], entry["seed"] + j)
        for entry in upstream.entries()[position:]
        if entry["prompt"][0].isdigit()
        for j in range(entry["n"] or 1)
    }


def test_ctrl_c_saves_what_is_there_and_prints_the_command_that_goes_on(tmp_path: Path) -> None:
    with fault_upstream(tmp_path, delay=0.1) as upstream:
        words, environment = command(
            "generate", ask_for(tmp_path, 60), "--upstream", upstream.url, "--model", "m", "-n", 2, "--concurrency", 4,
            "-o", tmp_path / "run",
        )  # fmt: skip
        process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        _wait_for_samples(tmp_path / "run", 8)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130, err
        assert time.monotonic() - begin < 10
        assert "Traceback" not in err
        there = set(samples(tmp_path))
        asked = _asked_after(upstream, 0)
        assert there == asked  # what was under way has arrived
        position = len(upstream.entries())
        line = next(line for line in out.splitlines() if line.startswith("  steelyard generate"))
        again, environment = command(*shlex.split(line)[1:])
        done = subprocess.run(again, env=environment, capture_output=True, text=True, check=True)
        assert "120 of 120 samples" in done.stdout
        assert not _asked_after(upstream, position) & there
        assert len(samples(tmp_path)) == 120


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_server_is_silent_ends_at_once(
    upstream: FaultUpstream, tmp_path: Path, number: signal.Signals
) -> None:
    words, environment = command(
        "generate", ask_for(tmp_path, 1), "--upstream", upstream.url, "--model", "fault:silent", "-o", tmp_path / "run"
    )
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    before = len(upstream.entries())
    while len(upstream.entries()) == before:
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "0 of 32 samples" in out
    assert "steelyard generate" in out


def test_kill_9_at_any_moment_loses_no_acknowledged_sample_and_changes_no_row(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    chance = random.Random(7)
    size = max(100, 20 * KILLS)
    with fault_upstream(tmp_path, delay=0.02) as upstream:
        common = ("--upstream", upstream.url, "--model", "m", "-n", 3, "--concurrency", 8)
        words, environment = command("generate", ask_for(tmp_path, size), *common, "-o", whole / "run")
        subprocess.run(words, env=environment, check=True, capture_output=True)
        words, environment = command("generate", ask_for(tmp_path, size), *common, "-o", killed / "run")
        there: dict[tuple[str, int], dict[str, Any]] = {}
        in_flight = 0
        start = position = len(upstream.entries())
        for _ in range(KILLS):
            process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            _grown(killed / "run" / "journal.jsonl", process)
            time.sleep(chance.uniform(0, 0.1))
            process.kill()
            process.communicate()
            asked = _asked_after(upstream, position)
            assert not asked & set(there)  # what was acknowledged is never asked again
            before, there = there, samples(killed)
            assert before.items() <= there.items()  # and never lost
            in_flight += len(asked - set(there))
            position = len(upstream.entries())
        done = subprocess.run(words, env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not _asked_after(upstream, position) & set(there)
        assert len(there) < 3 * size  # the last go had something left to do
        again = upstream.samples("m").total() - upstream_samples_before(upstream, start)
    assert again - 3 * size <= in_flight
    tables = [pl.read_parquet(folder / "run" / "table.parquet") for folder in (whole, killed)]
    assert tables[0].equals(tables[1])


def upstream_samples_before(upstream: FaultUpstream, position: int) -> int:
    return sum(entry["n"] or 1 for entry in upstream.entries()[:position] if entry["prompt"][0].isdigit())


def _grown(journal: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has written to the journal, or is done."""
    size = journal.stat().st_size if journal.exists() else 0
    while process.poll() is None and not (journal.exists() and journal.stat().st_size > size):
        time.sleep(0.005)


def test_no_key_is_in_any_file_or_line(tmp_path: Path) -> None:
    """The server echoes the key wherever it can: in samples, names and messages."""
    said = ""
    with fault_upstream(tmp_path) as upstream:
        for i, model in enumerate(
            ["good", "fault:echo", "fault:422?BAD", "fault:500?BAD", "fault:401", "fault:429@0?BAD", "fault:redirect"]
        ):
            options: tuple[object, ...] = (
                "generate", ask_for(tmp_path, 2, bad=1), "--upstream", upstream.url, "--model", model, "-n", 2,
                "--max-failures", "100%", "-o", tmp_path / f"run{i}",
            )  # fmt: skip
            done = steelyard(*options)
            said += done.out + done.err
        words, environment = command(*options[:-1], tmp_path / "debugged")
        noisy = environment | {"PYTHONASYNCIODEBUG": "1", "PYTHONDEVMODE": "1"}
        debugged = subprocess.run(words, env=noisy, capture_output=True, text=True, check=False)
        said += debugged.stdout + debugged.stderr
        assert all(entry["keyed"] for entry in upstream.entries())
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "ledger.jsonl"]
    assert len(files) > 15
    for path in files:
        assert CANARY.encode() not in path.read_bytes(), path
        if path.suffix == ".parquet":
            assert CANARY not in pl.read_parquet(path).write_json()
    assert CANARY not in said
    with Run.open(tmp_path / "run1") as run:
        assert {record["response"] for record in run.samples()} >= {"you are ***"}


def test_a_terminal_shows_a_bar_with_rate_and_time_left(tmp_path: Path) -> None:
    with fault_upstream(tmp_path, delay=0.1) as upstream:
        words, environment = command(
            "generate", ask_for(tmp_path, 40), "--upstream", upstream.url, "--model", "m", "-n", 2, "--concurrency", 4,
            "-o", tmp_path / "run",
        )  # fmt: skip
        parent, child = pty.openpty()
        environment |= {"TERM": "xterm-256color", "COLUMNS": "120"}
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=child)
        os.close(child)
        shown = b""
        try:
            while chunk := os.read(parent, 65536):
                shown += chunk
        except OSError:
            pass
        os.close(parent)
        assert process.wait() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode("utf-8", "replace"))
    assert re.search(r"Sampling .*\d+/80, [\d.]+ samples/s, [\d,]+ tokens/s, \d+ s left", text)


def test_help_imports_no_http(tmp_path: Path) -> None:
    code = "import steelyard.cli, sys; print([m for m in ('aiohttp', 'asyncio', 'polars') if m in sys.modules])"
    _, environment = command()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert "aiohttp" not in done.stdout
