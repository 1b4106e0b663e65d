"""The log of a run in parts is for whoever watches: work does not end for it."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.engine_options import LOG, logged
from steelyard.sampling.progress import Progress


def test_a_log_that_cannot_be_written_ends_no_work(tmp_path: Path) -> None:
    (tmp_path / LOG).mkdir()
    heard: list[Progress] = []
    with logged("Scoring", tmp_path, heard.append) as tell:
        tell(Progress(1, 0, unit="responses"))
    assert len(heard) == 1
