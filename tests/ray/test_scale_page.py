"""The commands of docs/scale.md for two Ray nodes on one machine, as they stand there, end in the verdicts of one."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.running import steelyard
from tests.sampling.jobs.generating import ask_for
from tests.upstreams import ROOT, FaultUpstream
from tests.waiting import PATIENCE

PAGE = (ROOT / "docs" / "scale.md").read_text()
STORE = ("--object-store-memory", "100000000")


def commands(mark: str) -> list[list[str]]:
    blocks = re.findall(rf"<!-- {mark} -->\n```console\n(.*?)```", PAGE, re.DOTALL)
    return [shlex.split(line.removeprefix("$ ")) for block in blocks for line in block.splitlines()]


@contextmanager
def terminal(words: list[str], place: Path) -> Iterator[None]:
    """A command that goes on until it is ended; whatever it has started ends with it."""
    program = Path(sys.executable).with_name(words[0])
    with (place / "ray.txt").open("a") as log:
        process = subprocess.Popen([program, *words[1:], *STORE], stdout=log, stderr=log, start_new_session=True)
    try:
        yield
    finally:
        process.terminate()  # Ctrl-C would do, but for tests that are started deaf to it
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def nodes(address: str, **environment: str) -> int:
    """How many nodes a cluster has, asked by a process of its own; 0 if it does not say."""
    code = f"import ray; ray.init({address!r}, log_to_driver=False); print(sum(n['Alive'] for n in ray.nodes()))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ | environment
    )
    return int(done.stdout or 0)


@pytest.mark.usefixtures("key")
def test_the_commands_of_the_page_give_the_verdicts_of_one_process(
    upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))  # where the token is kept
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    ray = Path(sys.executable).with_name("ray")
    subprocess.run([ray, "get-auth-token", "--generate"], capture_output=True, check=True)
    ask_for(tmp_path, 30)
    head, second = commands("terminal")
    address = second[second.index("--address") + 1]
    with terminal(head, tmp_path):
        end = time.monotonic() + PATIENCE
        while not nodes(address):
            assert time.monotonic() < end, (tmp_path / "ray.txt").read_text()
        with terminal(second, tmp_path):
            while nodes(address) < 2:
                assert time.monotonic() < end, (tmp_path / "ray.txt").read_text()
            assert not nodes(address, RAY_AUTH_MODE="disabled")  # nobody gets in without the token
            for name, *words in commands("work"):
                assert name == "steelyard"
                given = [upstream.url if word.startswith("http://") else word for word in words]
                done = subprocess.run(
                    [sys.executable, "-m", "steelyard", *given], capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    asked = ("--upstream", upstream.url, "--model", "my-model", "-n", 4)
    assert steelyard("generate", "questions.jsonl", *asked, "-o", "alone").code == 0
    assert steelyard("score", "alone", "--verifier", "logprob").code == 0
    vote = ("--score", "logprob", "--method", "vanilla", "-o", "alone.parquet")
    assert steelyard("vote", "alone", *vote).code == 0
    assert_frame_equal(pl.read_parquet("verdicts.parquet"), pl.read_parquet("alone.parquet"))
