"""Systems other than the one that the tests run on: calls that macOS lacks, and Windows, which is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import steelyard as sy
from tests.runs.runs_small import small_run


@pytest.mark.skipif(not hasattr(os, "fdatasync"), reason="this system has no fdatasync to take away")
def test_a_run_needs_only_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fdatasync")
    assert sy.read(small_run(tmp_path / "run"), score="none").n_responses == 32


def test_the_command_on_windows_names_the_way_out_in_one_line() -> None:
    code = "import os; import steelyard.__main__ as command; os.name = 'nt'; command.main()"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        2,
        "error: Steelyard runs on Linux and macOS: on Windows, install it in WSL\n",
    )
