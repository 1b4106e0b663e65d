"""A Parquet file is read in slices, unless it changes meanwhile or a slice would need the rows before it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.tables.sources import parquet_slices
from steelyard.tables.sources.parquet_slices import can_seek, parquet_file, slices

TABLE = sy.simulate(50, 8, seed=1).drop("correct")
OTHER = TABLE.with_columns(answer=pl.lit("7"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    TABLE.write_parquet(tmp_path / "t.parquet", row_group_size=64)
    return tmp_path / "t.parquet"


@pytest.fixture
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_slices, "ROWS", (30, 30))


@pytest.mark.parametrize(("total", "rows"), [(400, 100), (10_000, 500), (10**6, 1000)])
def test_slices_are_a_twentieth_of_the_table(
    file: Path, total: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_slices, "ROWS", (100, 1000))
    assert next(slices(pl.scan_parquet(file), file, total)).height == min(rows, TABLE.height)


@pytest.mark.usefixtures("short_slices")
def test_slices_are_the_table(file: Path) -> None:
    found = list(slices(pl.scan_parquet(file), file, TABLE.height))
    assert [part.height for part in found] == [30] * 13 + [10]
    assert pl.concat(found).equals(TABLE)


def replaced(file: Path) -> None:
    OTHER.write_parquet(file.with_suffix(".new"))
    file.with_suffix(".new").replace(file)


@pytest.mark.usefixtures("short_slices")
@pytest.mark.parametrize("change", [replaced, OTHER.write_parquet, Path.unlink])
def test_a_file_that_changes_is_noticed(file: Path, change: Callable[[Path], None]) -> None:
    parts = slices(pl.scan_parquet(file), file, TABLE.height)
    next(parts)
    change(file)
    with pytest.raises(sy.TableError, match="the table changed; run it again"):
        list(parts)


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


def test_any_rows_of_one_parquet_file_can_be_read_alone(file: Path, tmp_path: Path) -> None:
    table = pl.scan_parquet(file)
    assert can_seek(table)
    assert can_seek(table.select("sample", "question"))
    assert can_seek(table.rename({"question": "SCAN", "answer": "SLICE: Positive"}))


def test_rows_of_other_tables_cannot(file: Path, tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "t.csv")
    table = pl.scan_parquet(file)
    assert not can_seek(pl.scan_csv(tmp_path / "t.csv"))
    assert not can_seek(TABLE.lazy())
    assert not can_seek(pl.concat((table, table)))
    assert not can_seek(table.filter(pl.col("score") > 0.5))
    assert not can_seek(table.sort("score"))
    assert not can_seek(table.group_by("question").agg("answer").explode("answer"))


def test_only_a_local_parquet_file_is_one(file: Path, tmp_path: Path) -> None:
    assert parquet_file(file) == parquet_file(str(file)) == file
    (tmp_path / "folder.parquet").mkdir()
    others = (tmp_path, tmp_path / "folder.parquet", tmp_path / "t.csv", "-", "s3://bucket/t.parquet", TABLE, [file])
    assert not any(parquet_file(source) for source in others)
