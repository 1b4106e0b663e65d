"""Links in a run folder: what a run writes stays in its folder."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.files import reason
from steelyard.runs.derived_table import fresh_table
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run
from steelyard.runs.status import status
from tests.runs.runs_small import small_run

PRECIOUS = b"somebody else's"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return small_run(tmp_path / "run", questions=2, samples=2)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").write_bytes(PRECIOUS)
    return tmp_path / "elsewhere"


def link(path: Path, to: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(to)


@pytest.mark.parametrize("name", ["table.parquet", "table.json", "questions.parquet", "questions.json"])
@pytest.mark.parametrize("there", [True, False])
def test_a_derived_file_takes_the_place_of_a_link(run: Path, elsewhere: Path, name: str, there: bool) -> None:
    questions = pl.read_parquet(run / "questions.parquet")
    if not there:
        elsewhere.unlink()
    link(run / name, elsewhere)
    with Run.start(run, Manifest("0" * 64, "m", 2), questions) as opened:
        opened.write_table()
    assert not (run / name).is_symlink()
    assert status(run)["table"] == "up to date"
    assert not there or elsewhere.read_bytes() == PRECIOUS
    assert elsewhere.exists() == there


def test_a_manifest_takes_the_place_of_a_link(run: Path, elsewhere: Path) -> None:
    elsewhere.write_bytes((run / "manifest.json").read_bytes())
    before = elsewhere.read_bytes()
    link(run / "manifest.json", elsewhere)
    questions = pl.read_parquet(run / "questions.parquet")
    Run.start(run, Manifest("0" * 64, "m", 3), questions).close()
    assert elsewhere.read_bytes() == before
    assert Manifest.read(run).n == 3


@pytest.mark.parametrize("there", [True, False])
def test_a_journal_or_a_lock_that_is_a_link_is_refused_and_left_alone(run: Path, elsewhere: Path, there: bool) -> None:
    content = (run / "journal.jsonl").read_bytes()
    elsewhere.write_bytes(content) if there else elsewhere.unlink()
    for name in ("journal.jsonl", "lock"):
        link(run / name, elsewhere)
        with pytest.raises(sy.errors.RunError, match=rf"{name} is a link"):
            Run.open(run, write=True)
        assert elsewhere.exists() == there
        assert not there or elsewhere.read_bytes() == content
        (run / name).unlink()
    assert len(list(Run.open(run).missing())) == 4


def test_a_journal_that_is_a_pipe_or_a_folder_is_refused_at_once(run: Path) -> None:
    (run / "journal.jsonl").unlink()
    os.mkfifo(run / "journal.jsonl")
    for look in (status, fresh_table):
        with pytest.raises(sy.errors.RunError, match="is a link or not a regular file"):
            look(run)


def test_a_run_folder_may_itself_be_a_link(run: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(run)
    assert fresh_table(tmp_path / "linked").exists()
    assert status(run)["table"] == "up to date"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, ""), "No space left on device (ENOSPC)"),
        (OSError(28, "it is full"), "it is full"),
        (OSError(), "OSError"),
        (OSError(99999, ""), "Unknown error 99999 (99999)"),
        (OSError("why"), "why"),
    ],
)
def test_a_refusal_of_the_system_always_has_a_reason(error: OSError, said: str) -> None:
    assert reason(error) == said


def test_a_disk_without_room_for_another_name_says_so(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "")

    monkeypatch.setattr("steelyard.foundation.files.tempfile.mkstemp", full)
    with pytest.raises(
        sy.errors.RunError, match=r"table\.parquet: No space left on device \(ENOSPC\) \(.* bytes free\)"
    ):
        fresh_table(run)
