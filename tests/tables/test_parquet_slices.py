"""A Parquet file is read in slices, unless it changes meanwhile or a slice would need the rows before it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.tables import single_pass
from steelyard.tables.sources import parquet_slices
from steelyard.tables.sources.parquet_slices import MOST, can_slice, parquet_file, slices

TABLE = sy.simulate(50, 8, seed=1).drop("correct")
OTHER = TABLE.with_columns(answer=pl.lit("7"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    TABLE.write_parquet(tmp_path / "t.parquet", row_group_size=64)
    return tmp_path / "t.parquet"


@pytest.fixture
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_slices, "ROWS", (30, 30))


def read_slices(file: Path) -> list[pl.DataFrame]:
    found = parquet_file(file)
    assert found is not None
    return list(slices(pl.scan_parquet(file), found, TABLE.height))


@pytest.mark.parametrize(("rows", "found"), [((100, 1000), 100), ((5, 1000), 20), ((5, 10), 10), ((400, 1000), 400)])
def test_slices_are_a_twentieth_of_the_table(
    file: Path, rows: tuple[int, int], found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_slices, "ROWS", rows)
    assert {part.height for part in read_slices(file)} == {found}


@pytest.mark.usefixtures("short_slices")
def test_slices_are_the_table(file: Path) -> None:
    found = read_slices(file)
    assert [part.height for part in found] == [30] * 13 + [10]
    assert pl.concat(found).equals(TABLE)


@pytest.mark.usefixtures("short_slices")
def test_slices_are_read_where_no_thread_can_start(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    assert pl.concat(read_slices(file)).equals(TABLE)


def test_a_vote_at_the_exit_of_python_is_a_vote(file: Path) -> None:
    code = f"""
import atexit, steelyard as sy
from steelyard.tables.sources import parquet_slices
parquet_slices.ROWS = 30, 30
atexit.register(lambda: print(len(sy.vote({str(file)!r}, method="vanilla"))))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("50\n", "")


def replaced(file: Path) -> None:
    OTHER.write_parquet(file.with_suffix(".new"))
    file.with_suffix(".new").replace(file)


CHANGES = pytest.mark.parametrize("change", [replaced, OTHER.write_parquet, Path.unlink])


@pytest.mark.usefixtures("short_slices")
@CHANGES
def test_a_file_that_changes_is_noticed(file: Path, change: Callable[[Path], None]) -> None:
    found = parquet_file(file)
    assert found is not None
    parts = slices(pl.scan_parquet(file), found, TABLE.height)
    next(parts)
    change(file)
    with pytest.raises(sy.TableError, match="the table changed; run it again"):
        list(parts)


@CHANGES
def test_a_file_that_changes_after_it_was_opened_is_noticed(
    file: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def changing(table: pl.LazyFrame, total: int) -> bool:
        change(file)
        return can_slice(table, total)

    monkeypatch.setattr(single_pass, "can_slice", changing)
    with pytest.raises(sy.TableError, match="the table changed; run it again"):
        sy.vote(file, method="vanilla")


@pytest.mark.usefixtures("short_slices")
def test_a_vote_on_a_file_that_changes_is_refused(file: Path) -> None:
    changed = False

    def change(_fraction: float) -> None:
        nonlocal changed
        if not changed:
            changed = True
            replaced(file)

    with pytest.raises(sy.TableError, match="the table changed; run it again"):
        sy.vote(file, method="vanilla", progress=change)


def test_a_footer_with_fewer_rows_than_the_row_groups_is_refused(file: Path) -> None:
    """A slice would end there, in silence."""
    data = file.read_bytes()
    size = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - size : -8]
    wrong = footer.replace(zigzag(TABLE.height), zigzag(TABLE.height - 80), 1)
    file.write_bytes(data[: -8 - size] + wrong + data[-8:])
    assert pl.scan_parquet(file).select(pl.len()).collect().item() == TABLE.height - 80
    with pytest.raises(sy.TableError, match="only read in part"):
        sy.vote(file, method="vanilla")


def zigzag(value: int) -> bytes:
    """A number of two bytes as in the footer of a Parquet file."""
    return bytes([(2 * value) & 0x7F | 0x80, 2 * value >> 7])


def test_any_rows_of_one_parquet_file_can_be_read_alone(file: Path, tmp_path: Path) -> None:
    table = pl.scan_parquet(file)
    assert can_slice(table, TABLE.height)
    assert can_slice(table.select("sample", "question"), TABLE.height)
    assert can_slice(table.rename({"question": "SCAN", "answer": "SLICE: Positive"}), TABLE.height)


def test_a_long_table_is_no_table_of_slices(file: Path) -> None:
    """Of one row group, each would take longer than the one before."""
    assert can_slice(pl.scan_parquet(file), MOST)
    assert not can_slice(pl.scan_parquet(file), MOST + 1)


def test_rows_of_other_tables_cannot(file: Path, tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "t.csv")
    table = pl.scan_parquet(file)
    assert not can_slice(pl.scan_csv(tmp_path / "t.csv"), TABLE.height)
    assert not can_slice(TABLE.lazy(), TABLE.height)
    assert not can_slice(pl.concat((table, table)), TABLE.height)
    assert not can_slice(table.filter(pl.col("score") > 0.5), TABLE.height)
    assert not can_slice(table.sort("score"), TABLE.height)
    assert not can_slice(table.group_by("question").agg("answer").explode("answer"), TABLE.height)


def test_only_a_local_parquet_file_is_one(file: Path, tmp_path: Path) -> None:
    (tmp_path / "link.parquet").symlink_to(file)
    for source in (file, str(file), tmp_path / "link.parquet"):
        found = parquet_file(source)
        assert found is not None
        assert found.path == file.resolve()
    (tmp_path / "folder.parquet").mkdir()
    others: list[Any] = [tmp_path, tmp_path / "folder.parquet", tmp_path / "t.csv", "-", TABLE, [file]]
    others += ["s3://bucket/t.parquet", "\0.parquet", "long" * 100 + ".parquet", tmp_path / "none.parquet"]
    assert not any(parquet_file(source) for source in others)
