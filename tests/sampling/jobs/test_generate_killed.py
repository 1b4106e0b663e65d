"""steelyard generate killed, interrupted and without room: nothing acknowledged is lost or asked again."""

from __future__ import annotations

import os
import random
import resource
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.measuring import unmeasured
from tests.running import without_progress
from tests.sampling.jobs.generating import ask_for, samples, wait_for_samples
from tests.upstreams import FaultUpstream, command, fault_upstream
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.usefixtures("key")
KILLS = int(os.environ.get("STEELYARD_KILLS", "6"))

# The command, with more time for what is under way when it is stopped than a busy machine needs.
PATIENT = f"""
import steelyard.sampling.generate.generate as job
from steelyard.__main__ import main
job.GRACE = {PATIENCE}
main()
"""


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
        assert without_progress(done.stderr).count("\n") == 1
        there, position = set(samples(tmp_path)), len(upstream.entries())
        assert 0 < len(there) < 160
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        assert "160 of 160 samples" in done.stdout
        assert not _asked_after(upstream, position) & there


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
        upstream.allow(16)
        words, environment = command(
            "generate", ask_for(tmp_path, 60), "--upstream", upstream.url, "--model", "m", "-n", 2, "--concurrency", 4,
            "-o", tmp_path / "run",
        )  # fmt: skip
        words[1:3] = ["-c", PATIENT]
        process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_samples(tmp_path / "run", 8)
        process.send_signal(signal.SIGINT)
        upstream.allow()
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, err
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
    before = len(upstream.entries())
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: len(upstream.entries()) > before)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "0 of 32 samples" in out
    assert "steelyard generate" in out


@pytest.mark.long
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
            upstream.allow(18)  # of 20 per kill: it never finishes
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
        upstream.allow()
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
