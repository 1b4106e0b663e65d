"""A vote over parts on a store is that over parts on the disk: mixed, stopped, killed, and meddled with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.engine.input_parts import InputPart, input_parts_of
from steelyard.engine.read_answers import answers_of_parts
from steelyard.engine.vote_parts import vote_parts
from steelyard.foundation.errors import RunError, SettingError
from steelyard.foundation.store_address import Address, Place, place_of
from steelyard.runs.parts import part_tables
from steelyard.runs.seal import sealed
from tests.engine.engines import Here
from tests.waiting import until

TABLE = sy.simulate(60, 8, seed=3)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Place]:
    """The same parts on the disk and on a store."""
    there = tmp_path_factory.mktemp("parted")
    sy.partition(TABLE, there / "here", 5)
    sy.partition(TABLE, f"file://{there}/stored", 5)
    return {"here": there / "here", "stored": place_of(f"file://{there}/stored")}


@pytest.fixture
def stored(both: dict[str, Place]) -> Place:
    return both["stored"]


@pytest.fixture
def out(tmp_path: Path) -> Address:
    return Address(f"file://{tmp_path}/out")


def verdicts(folder: Path) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(path) for path in sorted(folder.glob("part-*.parquet"))])


@pytest.mark.parametrize(("read", "written"), [("stored", "stored"), ("stored", "here"), ("here", "stored")])
def test_verdicts_are_byte_for_byte_those_of_folders_on_the_disk(
    both: dict[str, Place], out: Address, tmp_path: Path, read: str, written: str
) -> None:
    vote_parts(both["here"], tmp_path / "wanted", Here(), method="vanilla")
    vote_parts(both[read], out if written == "stored" else tmp_path / "out", Here(), method="vanilla")
    names = [path.name for path in (tmp_path / "wanted").glob("*.parquet")]
    for name in [*names, "summary.json"]:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "wanted" / name).read_bytes()
    assert verdicts(tmp_path / "out").sort("question").equals(sy.vote(TABLE, method="vanilla").sort("question"))
    assert answers_of_parts(both[read], place_of(f"{out}-answers"), Here()).responses == 480


def test_python_takes_addresses_for_an_engine(stored: Place, out: Address) -> None:
    found = sy.vote(str(stored), engine=Here(), output=str(out))
    assert found.equals(sy.vote(str(stored)))
    read = sy.read_answers(str(stored), engine=Here(), output=f"{out}-answers")
    assert read.table.height == 480


def stopped(folder: Place, target: Place) -> Here:
    engine = Here(most=2)
    with pytest.raises(KeyboardInterrupt):
        vote_parts(folder, target, engine)
    return engine


def test_the_same_command_goes_on_and_a_part_that_is_not_the_sealed_one_is_done_again(
    stored: Place, out: Address, tmp_path: Path
) -> None:
    first = stopped(stored, out)
    with pytest.raises(RunError, match="is not finished: run the command that makes it again"):
        sy.read(str(out))
    changed = out / f"{first.asked[1]}.parquet"
    content = changed.read_bytes()
    changed.write_bytes(content[:50] + bytes([content[50] ^ 1]) + content[51:])  # as long as it was
    kept = out / f"{first.asked[0]}.parquet"
    kept.write_bytes(kept.read_bytes())  # the same again, which the store calls something else
    second, third = Here(), Here()
    vote_parts(stored, out, second)
    assert sorted(second.asked) == sorted({f"part-{i:05d}" for i in range(5)} - {first.asked[0]})
    assert verdicts(tmp_path / "out").sort("question").equals(sy.vote(TABLE).sort("question"))
    vote_parts(stored, out, third)
    assert third.asked == []


def test_another_order_or_a_folder_of_something_else_is_refused(stored: Place, out: Address) -> None:
    stopped(stored, out)
    with pytest.raises(SettingError, match=r"another command \(n was None, now 3\).*choose another folder$"):
        vote_parts(stored, out, Here(), n=3)
    (out / "mine" / "notes.txt").write_bytes(b"mine")
    with pytest.raises(SettingError, match="it already exists, with 1 objects"):
        vote_parts(stored, out / "mine", Here())


def test_of_two_commands_that_begin_at_once_the_one_with_another_order_is_refused(
    stored: Place, out: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(folder: Address, wanted: object) -> bool:
        monkeypatch.undo()
        stopped(stored, folder)  # the other command comes first
        return False

    monkeypatch.setattr("steelyard.engine.table_jobs.claim", late)
    with pytest.raises(SettingError, match="holds verdicts of another command"):
        vote_parts(stored, out, Here(), n=3)


def test_a_part_that_another_command_writes_meanwhile_does_not_end_in_a_finished_folder(
    stored: Place, out: Address
) -> None:
    def meddle(share: float) -> None:
        if share == 1:
            (out / "part-00000.parquet").write_bytes(b"of another command")

    with pytest.raises(RunError, match=r"part-00000.parquet was lost, or written by another command, meanwhile"):
        vote_parts(stored, out, Here(), progress=meddle)
    vote_parts(stored, out, Here())
    assert sy.read_answers(str(out)).table.height == 60


def test_a_changed_byte_in_a_part_is_refused_by_name_and_the_other_parts_are_kept(out: Address, tmp_path: Path) -> None:
    folder = Address(f"file://{tmp_path}/stored")
    sy.partition(TABLE, str(folder), 5)
    bad = folder / "part-00003.parquet"
    content = bad.read_bytes()
    bad.write_bytes(content[:50] + bytes([content[50] ^ 1]) + content[51:])
    with pytest.raises(RunError, match=rf"1 of 5 parts failed \(part-00003: {bad} was changed after it was made"):
        vote_parts(folder, out, Here())
    assert [i for i in range(5) if sealed(out / f"part-{i:05d}.parquet")] == [0, 1, 2, 4]


def test_what_a_worker_reads_is_a_copy_that_is_in_no_folder(
    stored: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    part = input_parts_of(stored, Here()).parts[0]
    with part.opened() as rows:
        assert isinstance(rows, pl.LazyFrame)
        assert rows.collect().height == part.rows
        assert list(tmp_path.iterdir()) == []
    gone = InputPart("part-00000", f"{stored}/part-99999.parquet", 1, "0" * 64)
    with pytest.raises(RunError, match=r"part-99999.parquet is missing"), gone.opened():
        pass


@pytest.mark.long
def test_a_command_that_is_killed_leaves_no_file_here_and_goes_on_where_it_was(
    stored: Place, out: Address, tmp_path: Path
) -> None:
    (tmp_path / "tmp").mkdir()
    words = [sys.executable, "-m", "steelyard", "vote", str(stored), "--engine", "processes:1", "-o", str(out)]
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    first = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: list((tmp_path / "out").glob("part-*.json")))
    first.kill()
    first.wait()
    kept = json.loads(next((tmp_path / "out").glob("part-*.json")).read_text())
    second = Here()
    vote_parts(stored, out, second)
    assert kept["summary"]["part"] not in second.asked
    assert verdicts(tmp_path / "out").sort("question").equals(sy.vote(TABLE).sort("question"))
    assert [path for path in (tmp_path / "tmp").rglob("*") if path.is_file()] == []


def test_verdicts_that_were_copied_from_a_disk_are_not_made_again(
    both: dict[str, Place], out: Address, tmp_path: Path
) -> None:
    vote_parts(both["here"], tmp_path / "first", Here())
    for path in (tmp_path / "first").glob("part*"):
        (out / path.name).write_bytes(path.read_bytes())
    again = Here()
    vote_parts(both["here"], out, again)
    assert again.asked == []


def test_the_order_is_that_of_the_parts_that_were_looked_at(
    stored: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sy.partition(TABLE, f"file://{tmp_path}/changing", 5)
    folder, wanted = place_of(f"file://{tmp_path}/changing"), input_parts_of(stored, Here()).digest
    look = part_tables

    def replaced(source: Place) -> object:
        found = look(source)
        (tmp_path / "changing" / "parts.json").write_bytes(b"of another folder")
        return found

    monkeypatch.setattr("steelyard.engine.input_parts.part_tables", replaced)
    assert input_parts_of(folder, Here()).digest == wanted
