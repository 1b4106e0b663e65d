"""A folder of parts says what is in it, and what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.foundation.errors import RunError, SettingError
from steelyard.runs.parts import FILE, Parts, check_parts, part_name, part_of, part_tables


def test_the_part_of_a_question_is_the_same_for_ever() -> None:
    assert [part_of(text, 1000) for text in ("", "q0", "0", "größe", "a" * 10_000)] == [876, 413, 789, 705, 913]
    assert part_of("\ud800", 1) == 0  # half of a surrogate pair: no UTF-8, and still a part


def finished(folder: Path) -> Parts:
    for i in range(3):
        (folder / f"{part_name(i)}.parquet").write_bytes(b"12345")
    made = Parts("responses", 3, rows=[1, 2, 3], bytes=[5, 5, 5], sha256=["a", "b", "c"], finished=True)
    made.write(folder)
    return made


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    made = finished(tmp_path)
    found, paths = part_tables(tmp_path)
    assert found == made
    assert [path.name for path in paths] == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]


def test_a_missing_and_a_truncated_part_are_named(tmp_path: Path) -> None:
    finished(tmp_path)
    (tmp_path / "part-00001.parquet").write_bytes(b"1234")
    with pytest.raises(RunError, match=r"part-00001.parquet has 4 bytes instead of 5: restore it, or"):
        part_tables(tmp_path)
    (tmp_path / "part-00001.parquet").unlink()
    with pytest.raises(RunError, match=r"part-00001.parquet is missing: restore it, or"):
        part_tables(tmp_path)


def test_a_folder_that_is_half_written_damaged_newer_or_none_is_refused_with_the_fix(tmp_path: Path) -> None:
    (tmp_path / "table.csv").touch()
    for path in (tmp_path, tmp_path / "none", tmp_path / "table.csv"):
        with pytest.raises(RunError, match=r"not a folder of parts.*steelyard partition"):
            part_tables(path)
    Parts("verdicts", 3, order="a").write(tmp_path)
    with pytest.raises(RunError, match="is not finished: run the command that makes it again"):
        part_tables(tmp_path)
    written = json.loads((tmp_path / FILE).read_text())
    for change in ({"parts": 0}, {"format": "x"}, {"finished": True, "rows": [1]}, {"kind": None}):
        (tmp_path / FILE).write_text(json.dumps(written | change))
        with pytest.raises(RunError, match=r"parts.json is damaged .*remove the folder and make it again"):
            part_tables(tmp_path)
    (tmp_path / FILE).write_text(json.dumps(written | {"version": 99, "steelyard": "9.0"}))
    with pytest.raises(RunError, match=r"made by Steelyard 9.0: install that or a newer one"):
        part_tables(tmp_path)
    for number in (0, 100_001):
        with pytest.raises(SettingError, match="give a number between 1 and 100,000"):
            check_parts(number)
