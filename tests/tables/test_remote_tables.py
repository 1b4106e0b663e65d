"""Parquet on an object store is read where it is: polars opens the address, here one of local files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.errors import TableError
from steelyard.runs.parts import part_tables
from steelyard.tables.partitioning import partition
from tests.running import steelyard


def test_a_table_at_an_address_is_read_like_a_file(tmp_path: Path) -> None:
    table = sy.simulate(12, 4, seed=1)
    table.write_parquet(tmp_path / "t.parquet")
    done = steelyard("vote", f"file://{tmp_path}/t.parquet", "-o", tmp_path / "verdicts.parquet")
    assert done.code == 0, done.err
    assert pl.read_parquet(tmp_path / "verdicts.parquet").equals(sy.vote(table))


def test_a_pattern_is_one_table_and_files_that_do_not_agree_are_refused(tmp_path: Path) -> None:
    table = sy.simulate(12, 4, seed=1)
    for i in range(2):
        table.filter(pl.col("sample") % 2 == i).write_parquet(tmp_path / f"{i}.parquet")
    partition(f"file://{tmp_path}/*.parquet", tmp_path / "parts", 3)
    assert sum(part_tables(tmp_path / "parts")[0].rows) == 48
    assert sy.vote(tmp_path / "parts").sort("question").equals(sy.vote(table).sort("question"))
    table.write_parquet(tmp_path / "2.parquet")
    with pytest.raises(TableError, match="in more than one of the files"):
        sy.vote(f"file://{tmp_path}/*.parquet")


def test_what_is_not_there_or_no_parquet_is_one_line(tmp_path: Path) -> None:
    done = steelyard("vote", f"file://{tmp_path}/none.parquet")
    assert (done.code, done.err.count("\n")) == (2, 1)
    with pytest.raises(TableError, match="is neither Parquet nor a folder of parts, and nothing else is read"):
        sy.read("s3://bucket/t.csv")
    with pytest.raises(TableError, match="pass it alone"):
        sy.read(["s3://bucket/t.parquet", "a.parquet"])


@pytest.mark.parametrize("start", ["s3://bucket", "gs://bucket", "file:///data"])
def test_what_is_no_parquet_nor_a_folder_of_parts_goes_to_no_address_nor_into_a_folder_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    monkeypatch.chdir(tmp_path)
    sy.simulate(30, 4, seed=1).write_parquet("t.parquet")
    (tmp_path / "questions.jsonl").write_text('{"question": "a", "prompt": "1 + 1?"}\n')
    asked = ("questions.jsonl", "--upstream", "http://127.0.0.1:1/v1", "--model", "m", "-n", 2)
    no_run = f"{start}/run is not a folder of a file system: a run needs"
    for words, name, why in (
        (("vote", "t.parquet"), "v.csv", "only Parquet can be written to object stores; use .parquet"),
        (("fit", "t.parquet"), "plan.json", "name the path itself, /data/plan" if "file" in start else "copy it there"),
        (("import", "t.parquet", "--engine", "processes:1", "--parts", 2), "out", f"FILE... -o {start}/out --parts 2"),
        (("generate", *asked), "run", no_run),
        (("generate", *asked, "--engine", "processes:1"), "run", no_run),
        (("doctor",), "run", no_run),
        (("doctor", "--engine", "processes:1"), "run", no_run),
    ):
        done = steelyard(*words, "-o", f"{start}/{name}")
        assert (done.code, done.err.count("error: ")) == (2, 1), (words, done.err)
        assert why in done.err.splitlines()[-1]
    assert no_run in steelyard("status", f"{start}/run").err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["questions.jsonl", "t.parquet"]
