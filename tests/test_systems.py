"""Systems other than the one that the tests run on: calls that macOS lacks, and Windows, which is refused."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import steelyard as sy
from steelyard import __main__ as command
from tests.runs.runs_small import small_run


@pytest.mark.skipif(not hasattr(os, "fdatasync"), reason="this system has no fdatasync to take away")
def test_a_run_needs_only_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fdatasync")
    assert sy.read(small_run(tmp_path / "run"), score="none").n_responses == 32


def test_the_command_on_windows_names_the_way_out_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "os", SimpleNamespace(name="nt"))
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 2
    assert capsys.readouterr().err == "error: Steelyard runs on Linux and macOS: on Windows, install it in WSL\n"
