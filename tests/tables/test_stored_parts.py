"""A folder of parts on a store is cut, read and refused as one on the disk is; here the store is the local disk."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.errors import RunError, SteelyardError, SteelyardWarning, TableError
from steelyard.foundation.store_address import Address
from steelyard.tables.labelled import labelled_questions
from tests.running import steelyard


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return sy.simulate(40, 6, seed=1)


@pytest.fixture
def stored(table: pl.DataFrame, tmp_path: Path) -> str:
    sy.partition(table, f"file://{tmp_path}/stored", 3)
    return f"file://{tmp_path}/stored"


def test_the_parts_are_byte_for_byte_those_of_a_folder_and_no_temporary_file_stays(
    table: pl.DataFrame, stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    there, here = sy.partition(table, f"file://{tmp_path}/again", 3), sy.partition(table, tmp_path / "here", 3)
    assert there == here
    names = sorted(path.name for path in (tmp_path / "here").iterdir())
    for name in names:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    assert sorted(Address(stored).objects()) == names
    assert list((tmp_path / "tmp").iterdir()) == []


def test_everything_that_reads_tables_reads_it(table: pl.DataFrame, stored: str, tmp_path: Path) -> None:
    whole = sy.vote(table, method="vanilla").sort("question")
    assert sy.vote(stored, method="vanilla").sort("question").equals(whole)
    assert sy.read(stored).n_responses == sy.read_labelled(stored + "/").n_responses == 240
    assert sy.read_answers(stored).table.height == 240
    done = steelyard("vote", stored, "--method", "vanilla", "-o", f"file://{tmp_path}/v.parquet")
    assert done.code == 0, done.err
    assert f"written to file://{tmp_path}/v.parquet" in done.out
    assert pl.read_parquet(tmp_path / "v.parquet").sort("question").equals(whole)
    done = steelyard("evaluate", stored, "--method", "majority", "-n", 2, "--resamples", 2)
    assert done.code == 0, done.err


def test_of_a_folder_with_few_labels_only_the_labelled_questions_are_fitted_on(
    table: pl.DataFrame, tmp_path: Path
) -> None:
    partly = table.with_columns(correct=pl.when(pl.col("question") < "q20").then("correct"))
    sy.partition(partly, f"file://{tmp_path}/partly", 3)
    with pytest.warns(SteelyardWarning, match=f"20 of the 40 questions of file://{tmp_path}/partly have labels"):
        rows = labelled_questions(f"file://{tmp_path}/partly")
    assert rows.height == 120


def test_a_folder_that_is_there_or_not_finished_or_none_is_one_line(stored: str, tmp_path: Path) -> None:
    sy.simulate(3, 2).write_parquet(tmp_path / "t.parquet")
    done = steelyard("partition", tmp_path / "t.parquet", "-o", stored, "--parts", 2)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "it already exists" in done.err
    assert sy.read(stored).n_responses == 240
    says = json.loads((tmp_path / "stored" / "parts.json").read_text()) | {"finished": False}
    (Address(stored) / "parts.json").write_bytes(json.dumps(says).encode())
    with pytest.raises(RunError, match="is not finished: remove the folder and make it again"):
        sy.read(stored)
    with pytest.raises(TableError, match="is neither Parquet nor a folder of parts"):
        sy.read(f"file://{tmp_path}/none")


def test_a_part_that_is_missing_or_cut_short_is_named(stored: str) -> None:
    part = Address(stored) / "part-00001.parquet"
    content = part.read_bytes()
    part.write_bytes(content[:-1])
    with pytest.raises(RunError, match=f"{part} has .* bytes instead of"):
        sy.read(stored)
    part.remove()
    with pytest.raises(RunError, match=f"{part} is missing"):
        sy.read(stored)


def test_what_cannot_be_cut_leaves_nothing_on_the_store(tmp_path: Path) -> None:
    rows = {"question": ["q", None], "answer": ["1", "2"]}
    with pytest.raises(SteelyardError, match="have no question id"):
        sy.partition(rows, f"file://{tmp_path}/stored", 2)
    assert Address(f"file://{tmp_path}/stored").objects() == {}


def test_a_table_at_an_address_is_not_written_over_unless_that_is_said(table: pl.DataFrame, tmp_path: Path) -> None:
    target = f"file://{tmp_path}/t.parquet"
    sy.write(table, target)
    with pytest.raises(SteelyardError, match=r"it already exists; .*overwrite=True"):
        sy.write(table, target)
    sy.write(table.head(6), target, overwrite=True)
    assert pl.read_parquet(tmp_path / "t.parquet").equals(table.head(6))
    done = steelyard("vote", target, "-o", target, "--overwrite")
    assert done.code == 2
    assert "it is an input of this command" in done.err


def test_what_is_read_is_not_written_over_by_whatever_name_it_is_called(
    table: pl.DataFrame, stored: str, tmp_path: Path
) -> None:
    sy.write(table, tmp_path / "t.parquet")
    before = (tmp_path / "t.parquet").read_bytes(), Address(stored).objects()
    here, there, part = tmp_path / "t.parquet", f"file://{tmp_path}/t.parquet", f"{stored}/part-00000.parquet"
    for source, target in [(here, there), (there, here), (there, there), (stored, part), (f"{stored}/*.parquet", part)]:
        done = steelyard("vote", source, "-o", target, "--overwrite")
        assert (done.code, done.err.count("\n")) == (2, 1), (source, target)
        assert "it is an input of this command" in done.err
    assert ((tmp_path / "t.parquet").read_bytes(), Address(stored).objects()) == before


def test_plans_and_runs_at_addresses_are_refused_with_what_to_do(stored: str) -> None:
    done = steelyard("vote", stored, "--plan", "s3://box/plan.json")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "s3://box/plan.json is an address, and plans are read from files: copy it here" in done.err
    done = steelyard("status", "s3://box/run")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "s3://box/run is not a folder of a file system" in done.err
