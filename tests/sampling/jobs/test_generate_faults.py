"""steelyard generate against a server that fails: what passes costs a try, what stays is a failed sample."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import pytest

from steelyard.sampling.llm.pace import Pace
from tests.running import without_progress
from tests.sampling.jobs.generating import SUFFIX, ask_for, failures, generate, samples, wait_for_samples
from tests.upstreams import FaultUpstream, command, fault_upstream
from tests.waiting import PATIENCE, with_more_time

pytestmark = pytest.mark.usefixtures("key", "short_pauses")


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


def a_folder(tmp_path: Path, name: object) -> Path:
    (tmp_path / str(name)).mkdir()
    return tmp_path / str(name)


@pytest.mark.parametrize("kind", ["silent", "slow@1"])
def test_a_silent_server_costs_the_deadline_and_one_sample(upstream: FaultUpstream, tmp_path: Path, kind: str) -> None:
    def check(seconds: float) -> None:
        folder = a_folder(tmp_path, seconds)
        words = ("-n", 1, "--try-timeout", seconds, "--retries", 0, "--max-failures", 1)
        done = generate(upstream, folder, f"fault:{kind}?BAD", *words, bad=1)
        assert done.code == 0, done.err
        assert failures(folder) == {("q0", 0): f"no answer within {seconds:.3g} s"}

    with_more_time(check, 1.0)


def test_a_sample_has_a_deadline_for_all_its_tries(upstream: FaultUpstream, tmp_path: Path) -> None:
    def check(seconds: float) -> None:
        folder = a_folder(tmp_path, seconds)
        words = ("-n", 1, "--sample-timeout", seconds, "--retries", 9, "--max-failures", 1)
        done = generate(upstream, folder, "fault:silent?BAD", *words, bad=1)
        assert done.code == 0, done.err
        assert set(failures(folder)) == {("q0", 0)}

    with_more_time(check, 1.0)


def test_a_server_that_goes_away_stops_the_run_without_failures(tmp_path: Path) -> None:
    with fault_upstream(tmp_path) as upstream:
        upstream.allow(20)
        words, environment = command(
            "generate", ask_for(tmp_path, 200), "--upstream", upstream.url, "--model", "m", "-n", 2, "--concurrency", 4,
            "-o", tmp_path / "run",
        )  # fmt: skip
        process = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
        wait_for_samples(tmp_path / "run", 10)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "no connection to" in said or "connection broke" in said
    assert without_progress(said).count("\n") == 1
    assert len(samples(tmp_path)) >= 10


@pytest.mark.parametrize("wait", ["0", "-5", "date-3600"])
def test_a_server_that_asks_for_no_time_is_not_asked_more_often(
    upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait: str
) -> None:
    """Retry-After can only make our own pause longer: it is what the gate is closed for."""
    closed: list[float] = []
    pushed_back = Pace.pushed_back

    def noted(pace: Pace, sent: float, wait: float = 0.0, asked: float = 0.0) -> None:
        closed.append(wait)
        pushed_back(pace, sent, wait, asked)

    monkeypatch.setattr(Pace, "pushed_back", noted)
    monkeypatch.setattr("steelyard.sampling.llm.retry.LONGEST", 0.08)
    model = f"fault:429@{wait}?BAD"
    done = generate(upstream, tmp_path, model, "-n", 1, "--max-failures", "100%", count=2, bad=1)
    assert done.code == 0, done.err
    assert len(closed) == 21
    for times, pause in enumerate(closed):
        assert pause >= 0.75 * min(0.08, 0.02 * 2**times)


def test_a_sample_does_not_wait_beyond_its_deadline_for_a_server_that_asks_for_time(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    def check(seconds: float) -> None:
        folder = a_folder(tmp_path, seconds)
        model = "fault:429@1000000000?BAD"
        before = len(upstream.asked(model))
        words = ("-n", 1, "--sample-timeout", seconds, "--concurrency", 2, "--max-failures", "100%")
        done = generate(upstream, folder, model, *words, count=6, bad=6)
        assert done.code == 0, done.err
        reason = f"no sample within {seconds:g} s: the server asked for 1e+09 s"
        assert set(failures(folder).values()) == {reason}
        assert len(upstream.asked(model)) - before <= 2

    with_more_time(check, 1.0)


def test_the_first_request_waits_for_a_busy_server_as_any_other(upstream: FaultUpstream, tmp_path: Path) -> None:
    model = "fault:429@0.2!"
    done = generate(upstream, tmp_path, model, "-n", 1, count=1)
    assert done.code == 0, done.err
    assert len(upstream.asked(model, probes=True)) == 4


def test_a_server_that_stays_busy_is_given_up_by_the_probe_after_the_time_for_a_sample(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    def check(seconds: float) -> None:
        model = "fault:429@3000"
        before = len(upstream.asked(model, probes=True))
        done = generate(upstream, a_folder(tmp_path, seconds), model, "-n", 1, "--sample-timeout", seconds, count=1)
        assert done.code == 2
        assert "the server asked for 3,000 s; it is busy: try later" in done.err
        assert "start the server" not in done.err
        assert len(upstream.asked(model, probes=True)) - before == 1

    with_more_time(check, 1.0)


def test_a_quota_that_is_used_up_is_called_that(upstream: FaultUpstream, tmp_path: Path) -> None:
    for i, model in enumerate(("fault:quota", "fault:quota?BAD")):
        (tmp_path / str(i)).mkdir()
        done = generate(upstream, tmp_path / str(i), model, "-n", 1, count=1, bad=1)
        assert done.code == 2
        assert (
            "You exceeded your current quota; the quota of this key is used up: add credit, or use another" in done.err
        )
        assert len(upstream.asked(model, probes=True)) == i + 1
