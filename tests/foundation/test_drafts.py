"""What is on its way to a store lies in a file without a name, and only what is whole gets there."""

from __future__ import annotations

import errno
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.drafts import nameless_file, open_draft, sizes_of
from steelyard.foundation.errors import SettingError
from steelyard.foundation.store_address import Address
from steelyard.tables.writing import WRITERS


def test_a_draft_is_at_its_place_when_the_block_ends_well_and_not_before(tmp_path: Path) -> None:
    place = Address(f"file://{tmp_path}/out/x")
    with open_draft(place) as draft:
        draft.path.write_bytes(b"all of it")
        assert not place.is_file()
    assert place.read_bytes() == b"all of it"
    assert place.state() == (9, draft.tag)
    with pytest.raises(ValueError, match="256"), open_draft(place) as draft:
        draft.path.write_bytes(bytes([1, 2, 300]))
    assert place.read_bytes() == b"all of it"


def test_a_full_disk_is_named_with_the_folder_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    where = rf"No space left on device in {tmp_path}, where the draft is written; make room there, or set TMPDIR"
    refused = pytest.raises(SettingError, match=where)
    with refused, open_draft(Address(f"file://{tmp_path}/x")):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert not (tmp_path / "x").exists()


def test_a_file_without_a_name_is_in_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with nameless_file() as path:
        path.write_bytes(b"1234")
        assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"1234", [])


def test_sizes_are_those_of_files_or_of_objects(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"123")
    assert sizes_of([tmp_path / "a", tmp_path / "b"]) == [3, None]
    folder = Address(f"file://{tmp_path}")
    assert sizes_of([folder / "a", folder / "b"]) == [3, None]
    assert sizes_of([]) == []


def test_a_table_for_a_store_that_finds_no_room_here_says_where_to_make_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(table: pl.DataFrame, path: Path) -> None:
        raise pl.exceptions.ComputeError("parquet: underlying IO error: No space left on device (os error 28)")

    monkeypatch.setitem(WRITERS, ".parquet", full)
    where = "No space left .* where the draft is written; make room there, or set TMPDIR"
    with pytest.raises(SettingError, match=where):
        sy.write(sy.simulate(2, 2), f"file://{tmp_path}/t.parquet")
    with pytest.raises(SettingError, match=where):
        sy.partition(sy.simulate(2, 2), f"file://{tmp_path}/parts", 2)
