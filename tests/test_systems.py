"""macOS, imitated by taking away what it lacks (tests/without_linux), and Windows, which is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from steelyard import __main__ as command
from steelyard.foundation.cores import usable_cores
from tests.gateway.gateways import process
from tests.measuring import unmeasured
from tests.running import without_progress
from tests.sampling.jobs.generating import ask_for, samples, wait_for_samples
from tests.upstreams import ROOT, FaultUpstream
from tests.upstreams import command as command_line

WITHOUT_LINUX = ROOT / "tests" / "without_linux"


def without_linux(folder: Path) -> dict[str, str]:
    """The environment of a process that has nothing that macOS lacks."""
    path = os.pathsep.join(str(folder) for folder in (WITHOUT_LINUX, ROOT / "src", ROOT))
    return unmeasured() | {"PYTHONPATH": path, "FULL_SYNCS": str(folder / "full-syncs")}


def steelyard(folder: Path, *arguments: object) -> str:
    """Run the command on such a system, and return its output."""
    line = [sys.executable, "-m", "steelyard", *map(str, arguments)]
    done = subprocess.run(line, cwd=folder, env=without_linux(folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_the_imitation_has_nothing_that_macos_lacks(tmp_path: Path) -> None:
    program = (
        "import os, select; print(hasattr(os, 'fdatasync'), hasattr(select, 'epoll'), os.path.exists('/proc/self'))"
    )
    done = subprocess.run([sys.executable, "-c", program], env=without_linux(tmp_path), capture_output=True, check=True)
    assert done.stdout == b"False False False\n"
    program = "open('/proc/self/stat')"
    done = subprocess.run(
        [sys.executable, "-c", program], env=without_linux(tmp_path), capture_output=True, check=False
    )
    assert b"macOS has no such file" in done.stderr


@pytest.mark.long
def test_tables_are_evaluated_fitted_and_voted_on_by_processes_too(tmp_path: Path) -> None:
    steelyard(tmp_path, "simulate", "--questions", 60, "-n", 8, "-o", "responses.parquet")
    steelyard(tmp_path, "evaluate", "responses.parquet", "-n", "1,8", "--resamples", 2)
    steelyard(tmp_path, "fit", "responses.parquet", "-o", "plan.json")
    steelyard(tmp_path, "vote", "responses.parquet", "--plan", "plan.json", "-o", "verdicts.parquet")
    steelyard(tmp_path, "partition", "responses.parquet", "-o", "parts", "--parts", 3)
    steelyard(tmp_path, "vote", "parts", "--plan", "plan.json", "--engine", "processes:2", "-o", "verdicts")
    alone, by_parts = (
        pl.read_parquet(tmp_path / "verdicts.parquet"),
        pl.read_parquet(tmp_path / "verdicts" / "*.parquet"),
    )
    assert alone.sort("question").equals(by_parts.select(alone.columns).sort("question"))
    steelyard(tmp_path, "report", "responses.parquet", "-o", "report.html")
    assert "cores" in steelyard(tmp_path, "doctor", "-o", ".")


def test_what_a_killed_partition_left_is_removed_without_proc(tmp_path: Path) -> None:
    pl.DataFrame({"question": ["a", "b"], "answer": ["1", "2"]}).write_ndjson(tmp_path / "responses.jsonl")
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    (tmp_path / f".parts.{ended.pid}.parts").mkdir()
    (tmp_path / f".parts.{os.getpid()}.parts").mkdir()
    steelyard(tmp_path, "partition", "responses.jsonl", "-o", "parts", "--parts", 2)
    assert [path.name for path in tmp_path.glob(".parts.*")] == [f".parts.{os.getpid()}.parts"]


def test_answers_are_compared_where_memory_cannot_be_limited(tmp_path: Path) -> None:
    answers = ["\\cot x", "\\frac{\\cos x}{\\sin x}"]
    pl.DataFrame({"question": "a", "answer": answers, "score": 0.5}).write_ndjson(tmp_path / "responses.jsonl")
    steelyard(tmp_path, "answers", "responses.jsonl", "--answers", "math", "-o", "read.parquet")
    read = pl.read_parquet(tmp_path / "read.parquet")
    assert read["same_as"].n_unique() == 1


@pytest.mark.long
def test_a_killed_run_goes_on_is_scored_and_voted_on(tmp_path: Path, upstream: FaultUpstream) -> None:
    arguments = (
        "generate", ask_for(tmp_path, 20), "--upstream", upstream.url, "--model", "m", "-n", 2, "--concurrency", 2,
        "-o", tmp_path / "run",
    )  # fmt: skip
    upstream.allow(12)
    line, _ = command_line(*arguments)
    running = subprocess.Popen(
        line, env=without_linux(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_for_samples(tmp_path / "run", 4)
    finally:
        running.kill()
        _, err = running.communicate()
    assert running.returncode == -signal.SIGKILL
    assert not without_progress(err)
    upstream.allow()
    assert "40 of 40 samples" in steelyard(tmp_path, *arguments)
    assert len(samples(tmp_path)) == 40
    steelyard(tmp_path, "score", "run", "--verifier", "logprob")
    steelyard(tmp_path, "vote", "run", "--score", "logprob", "--method", "vanilla", "-o", "verdicts.parquet")
    assert pl.read_parquet(tmp_path / "verdicts.parquet").height == 20
    assert (tmp_path / "full-syncs").stat().st_size >= 40 // 2, "samples are flushed from the cache of the disk"


def test_the_gateway_votes_and_stores_feedback(tmp_path: Path, upstream: FaultUpstream) -> None:
    arguments = ("--method", "majority", "--feedback", tmp_path / "feedback")
    with process(upstream.url, *arguments, **without_linux(tmp_path)) as running:
        reply = running.chat("1 + 1?")
        assert reply.status == 200
        label = {"id": reply.json["id"], "answer": "2"}
        assert running.send("POST", "/v1/feedback", label).status == 200
        assert running.process is not None
        running.process.terminate()
        assert running.process.wait() == 0
    assert (tmp_path / "full-syncs").stat().st_size > 0


@pytest.mark.long
def test_no_name_that_macos_lacks_is_used() -> None:
    line = [sys.executable, "-m", "mypy", "--platform", "darwin", "--cache-dir", ".mypy_cache/darwin", "src"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot tie a process to one core")
def test_a_process_that_may_use_one_core_counts_one() -> None:
    program = (
        "import os; os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])\n"
        "from steelyard.foundation.cores import usable_cores; print(usable_cores())"
    )
    line, environment = command_line()
    done = subprocess.run([line[0], "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
    assert usable_cores() == len(os.sched_getaffinity(0))


def test_make_of_macos_has_every_option_that_is_used() -> None:
    """It is GNU make 3.81, which lists no output-sync among its features."""
    made = "make --no-print-directory -n -f - show"
    for features, expected in (("target-specific order-only", ""), ("order-only output-sync", "--output-sync=target")):
        line = next(line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("TOGETHER :="))
        rules = f"{line.replace('$(.FEATURES)', features)}\nshow:\n\techo $(TOGETHER)\n"
        done = subprocess.run(made.split(), input=rules, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["echo", *expected.split()]


def test_the_command_on_windows_names_the_way_out_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "os", SimpleNamespace(name="nt"))
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 2
    assert capsys.readouterr().err == "error: Steelyard runs on Linux and macOS: on Windows, install it in WSL\n"
