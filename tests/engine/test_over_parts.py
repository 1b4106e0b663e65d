"""Parts of a run that fail are told by name, and what is said of them is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.engine.run_jobs import run_parts, unfinished
from steelyard.engine.run_progress import PartDone, RunProgress
from steelyard.foundation.errors import SettingError, SteelyardWarning
from steelyard.runs.manifest import Manifest
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.parts import FILE
from tests.engine.engines import Here


def well(every: int, part: RunPart) -> PartDone:
    """Every so many parts go well, the others fail."""
    if part.number % every:
        raise SettingError("no")
    return PartDone(1, 1, 1, 0, 0, warnings=[f"line {part.number} of the journal is damaged"])


@pytest.mark.parametrize(("every", "stopped", "failed"), [(2, False, 12), (20, True, 10)])
def test_warnings_of_parts_are_told_and_work_that_went_on_is_not_called_stopped(
    tmp_path: Path, every: int, stopped: bool, failed: int
) -> None:
    (tmp_path / FILE).touch()
    run = PartedRun(tmp_path, Manifest("ab", "m", 1), tuple(RunPart(i, 1, "") for i in range(24)))
    board = RunProgress(tmp_path, 24, 24, "samples", lambda _: None)
    with pytest.warns(SteelyardWarning, match="part-00000: line 0 of the journal is damaged"):
        lost = run_parts(Here(), well, every, run, run.parts, board, workers=(1, None))
    said = str(unfinished(run, lost, 24, stopped=board.stopped))
    assert said.startswith(f"{failed} of 24 parts of {tmp_path} could not be done (part-00001: no; ")
    assert ("It was stopped after 10 in a row" in said) == stopped
