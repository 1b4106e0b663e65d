"""A folder on a store belongs to the command that came first; what it cannot finish it takes away again."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.foundation.errors import SettingError, StoreError
from steelyard.foundation.store_address import Address
from steelyard.runs.parts import Parts, check_new, claim, claimed


@pytest.fixture
def folder(tmp_path: Path) -> Address:
    return Address(f"file://{tmp_path}/parts")


def test_the_second_claim_fails_and_the_first_stands(folder: Address) -> None:
    first = Parts("verdicts", 3, order="a")
    assert claim(folder, first)
    assert not claim(folder, Parts("verdicts", 3, order="b"))
    assert Parts.read(folder) == first


def test_a_store_that_takes_both_claims_is_refused(folder: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(self: Address, content: bytes) -> bool:
        self.write_bytes(content)
        return True

    monkeypatch.setattr(Address, "create", careless)
    with pytest.raises(StoreError, match="overwrites an object despite a conditional put"):
        claim(folder, Parts("verdicts", 3))
    assert folder.objects() == {}


def test_a_folder_with_any_object_or_the_name_of_a_file_is_not_new(folder: Address) -> None:
    (folder / "below" / "notes.txt").write_bytes(b"mine")
    with pytest.raises(SettingError, match=r"with 1 objects \(below/notes.txt, ..\); choose another folder, or"):
        check_new(folder)
    with pytest.raises(SettingError, match="this is the name of a file"):
        check_new(Address("file:///nowhere/table.parquet"))


def test_of_a_folder_that_fails_nothing_stays_and_what_others_put_there_does(folder: Address) -> None:
    def stopped() -> None:
        with claimed(folder, Parts("responses", 2)):
            (folder / "part-00001.parquet").write_bytes(b"part")
            (folder / "notes.txt").write_bytes(b"of somebody")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert list(folder.objects()) == ["notes.txt"]
