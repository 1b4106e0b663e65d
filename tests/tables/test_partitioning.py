"""A table becomes a folder of parts: no question in two of them, no row lost, none out of order."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.errors import ColumnError, SettingError, TableError
from steelyard.runs.parts import part_of
from steelyard.tables import spreading
from steelyard.tables.partitioning import partition
from tests.running import steelyard


def parts_of(folder: Path) -> list[pl.DataFrame]:
    return [pl.read_parquet(path) for path in sorted(folder.glob("part-*.parquet"))]


@pytest.mark.parametrize("scattered", [False, True])
def test_every_question_is_in_its_part_with_its_rows_together_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scattered: bool
) -> None:
    monkeypatch.setattr(spreading, "BUFFER_BYTES", 1000)  # bytes: many chunks
    monkeypatch.setattr("steelyard.tables.partitioning.BATCH", 17)
    table = sy.simulate(40, 6, seed=1).with_columns(steps=pl.concat_list("score", "score"))
    if scattered:
        table = pl.concat([table.filter(pl.col("sample") == i) for i in (3, 1, 0, 2, 5, 4)])
    table.write_parquet(tmp_path / "t.parquet")
    made = partition(tmp_path / "t.parquet", tmp_path / "parts", 7)
    found = parts_of(tmp_path / "parts")
    assert made.rows == [each.height for each in found]
    for i, each in enumerate(found):
        assert each.schema == table.schema
        assert all(part_of(question, 7) == i for question in each["question"])
        heads = each["question"].rle().struct.field("value")
        assert heads.n_unique() == len(heads)
    for question, rows in table.group_by("question"):
        assert rows.equals(found[part_of(str(question[0]), 7)].filter(pl.col("question") == question[0]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "t.parquet"]


def test_a_folder_of_parts_is_read_as_the_table_it_was_made_of(tmp_path: Path) -> None:
    table = sy.simulate(40, 6, seed=1)
    partition(table, tmp_path / "parts", 3)
    whole, over_parts = sy.vote(table).sort("question"), sy.vote(tmp_path / "parts").sort("question")
    assert over_parts.equals(whole)
    assert sy.read_labelled(tmp_path / "parts").n_responses == 240
    assert sy.read_answers(tmp_path / "parts").table.height == 240
    table.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match="more than one of the files"):
        sy.read([tmp_path / "parts", tmp_path / "t.parquet"])


def test_questions_that_the_files_do_not_agree_about_are_refused(tmp_path: Path) -> None:
    for name, gold in (("a", "1"), ("b", "2")):
        rows = {"question": ["q"], "answer": ["1"], "gold": [gold]}
        pl.DataFrame(rows).write_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(TableError, match="a different 'gold' in each"):
        partition([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "parts", 2)
    assert not (tmp_path / "parts").exists()


def test_what_cannot_be_cut_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="have no question id"):
        partition({"question": ["q", None], "answer": ["1", "2"]}, tmp_path / "parts", 2)
    with pytest.raises(TableError, match="empty"):
        partition(pl.DataFrame({"question": [], "answer": []}), tmp_path / "parts", 2)
    (tmp_path / "there").mkdir()
    with pytest.raises(SettingError, match=r"it already exists; choose another folder$"):
        partition(sy.simulate(2, 2), tmp_path / "there", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_the_command_says_what_it_made_and_what_comes_next(tmp_path: Path) -> None:
    sy.simulate(9, 4, seed=1).write_csv(tmp_path / "t.csv")
    done = steelyard("partition", tmp_path / "t.csv", "-o", tmp_path / "parts", "--parts", 3)
    assert done.code == 0, done.err
    assert "36 responses to 9 questions" in done.out
    assert f"steelyard vote {tmp_path / 'parts'} --engine ray" in done.out
    again = steelyard("partition", tmp_path / "t.csv", "-o", tmp_path / "more", "--parts", 3, "--json")
    assert json.loads(again.out)["parts"] == 3


HOLD = """
import sys
from pathlib import Path
from steelyard.tables.partitioning import new_folder
with new_folder(Path(sys.argv[1]), 2):
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_what_another_command_writes_stays_where_there_are_no_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may belong to a process of another machine, of which only a lock could tell."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    other = tmp_path / ".parts.999999999.parts"
    other.mkdir()
    sy.partition(sy.simulate(8, 2, seed=1), tmp_path / "parts", 2)
    assert other.is_dir()
    assert sorted(path.name for path in (tmp_path / "parts").iterdir())[-1] == "parts.json"


def test_what_a_killed_process_of_the_same_number_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / f".parts.{os.getpid()}.0.parts"
    left.mkdir()
    (left / "half").touch()
    sy.partition(sy.simulate(8, 2, seed=1), tmp_path / "parts", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]
    assert not (tmp_path / "parts" / "half").exists()


def test_what_a_killed_command_left_is_removed_by_the_next_one_and_that_of_a_running_one_is_not(tmp_path: Path) -> None:
    holders = [
        subprocess.Popen(
            [sys.executable, "-c", HOLD, tmp_path / "parts"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    try:
        for process in holders:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        killed, running = holders
        killed.kill()
        killed.wait()
        other = tmp_path / ".other.999999999.parts"
        other.mkdir()
        assert list(tmp_path.glob(f".parts.{killed.pid}.*.parts"))
        sy.partition(sy.simulate(8, 2, seed=1), tmp_path / "parts", 2)
        assert not list(tmp_path.glob(f".parts.{killed.pid}.*.parts"))
        assert list(tmp_path.glob(f".parts.{running.pid}.*.parts"))
        assert other.is_dir()
        assert sorted(path.name for path in (tmp_path / "parts").iterdir())[-1] == "parts.json"
    finally:
        for process in holders:
            process.kill()
            process.communicate()
