"""What a worker tells of its part, and how busy its GPUs are by nvidia-smi."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.cli.progress_display import sentence
from steelyard.engine.run_progress import ProgressWriter, RunProgress, gpu_share
from steelyard.sampling.progress import Progress
from tests.waiting import until

SMI = """#!/bin/sh
echo "$@" >> "$0.asked"
echo 80
echo 60
"""


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which two GPUs are busy 80 % and 60 % of the time."""
    command = tmp_path / "bin" / "nvidia-smi"
    command.parent.mkdir()
    command.write_text(SMI)
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    return command


def test_only_the_gpus_that_ray_gave_a_worker_are_looked_at(smi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    assert gpu_share() == pytest.approx(0.7)
    assert smi.with_suffix(".asked").read_text().split()[-2:] == ["-i", "3,5"]


def test_without_nvidia_smi_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu_share() is None
    assert "GPU" not in sentence(Progress(10, 0, done=5, pieces=2))


@pytest.mark.usefixtures("smi")
def test_the_share_of_all_workers_is_in_the_progress_of_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.engine.run_progress.EVERY", 0.0)
    said: list[str] = []
    board = RunProgress(tmp_path, 100, 2, "responses", lambda progress: said.append(sentence(progress)))
    with ProgressWriter(tmp_path, "part-00000", gpus=True) as first, ProgressWriter(tmp_path, "part-00001") as second:
        first.progress.done, first.progress.tokens, second.progress.done = 30, 6000, 10
        first.write()
        until(lambda: first.progress.gpu is not None)
        first.write()
        second.write()
        board.report()
        second.progress.done = 20
        second.write()
        board.report()
    assert said[0].startswith("40/100, ")
    for words in ("responses/s", "tokens/s", "0 of 2 parts finished", "GPUs busy 70% of the time"):
        assert words in said[0]
    assert " left" not in said[0], "what came first says how long a model takes to load"
    assert said[1].startswith("50/100, ")
    assert " left" in said[1]
