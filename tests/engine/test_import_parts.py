"""Files that are read one by one become the parts of the table that they are together."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.engine.import_table import import_parts
from steelyard.foundation.errors import RunError, SettingError, SteelyardWarning, TableError
from steelyard.runs.parts import part_tables
from steelyard.tables import partitioning
from steelyard.tables.partitioning import partition
from steelyard.tables.response_rows import import_table
from tests.engine.engines import Here
from tests.running import steelyard


def three_files(folder: Path) -> list[Path]:
    """Each with other samples of the same questions, in other words than ours; one has a column more."""
    table = sy.simulate(30, 6, seed=1).rename({"question": "question_id", "answer": "prediction"})
    files = []
    for i in range(3):
        rows = table.filter(pl.col("sample") % 3 == i)
        files.append(folder / f"{i}.csv")
        (rows.with_columns(note=pl.lit("x")) if i == 1 else rows).write_csv(files[-1])
    return files


def test_the_parts_are_those_of_the_table_that_the_files_are_together(tmp_path: Path) -> None:
    files = three_files(tmp_path)
    made = import_parts(files, tmp_path / "out", 4, Here())
    partition(files, tmp_path / "parts", 4)
    for one, other in zip(part_tables(tmp_path / "out")[1], part_tables(tmp_path / "parts")[1], strict=True):
        found = pl.read_parquet(str(one))
        assert found.equals(pl.read_parquet(str(other)).select(found.columns))
    assert (sum(made.rows), made.made["questions"]) == (180, 30)
    assert sorted(made.columns) == sorted(import_table(files).columns)
    assert not (tmp_path / "out" / "chunks").exists()


def test_a_stopped_import_goes_on_with_the_files_and_parts_that_are_missing(tmp_path: Path) -> None:
    files = three_files(tmp_path)
    for most, asked in ((2, ["0.csv", "1.csv"]), (3, ["2.csv", "part-00000", "part-00001"])):
        engine = Here(most)
        with pytest.raises(KeyboardInterrupt):
            import_parts(files, tmp_path / "out", 4, engine)
        assert [Path(name).name for name in engine.asked] == asked
    last = Here()
    assert sum(import_parts(files, tmp_path / "out", 4, last).rows) == 180
    assert last.asked == ["part-00002", "part-00003"]
    with pytest.raises(SettingError, match="another command"):
        import_parts(files[:2], tmp_path / "out", 4, Here())


def test_files_that_mean_something_else_together_are_refused(tmp_path: Path) -> None:
    for i in range(2):
        pl.DataFrame({"completions": [["1", "2"]]}).write_ndjson(tmp_path / f"{i}.jsonl")
    with pytest.raises(RunError, match=r"every file would number its own: import these without --engine"):
        import_parts(sorted(tmp_path.glob("*.jsonl")), tmp_path / "out", 2, Here())
    pl.DataFrame({"question": ["a"], "answer": ["1"], "gold": ["1"]}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"question_id": ["b"], "answer": ["1"], "gold": ["1"]}).write_csv(tmp_path / "b.csv")
    with pytest.raises(TableError, match=r"b.csv is not read as .*a.csv is"):
        import_parts([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "more", 2, Here())


def test_the_command_wants_a_number_of_parts(tmp_path: Path) -> None:
    files = three_files(tmp_path)
    done = steelyard("import", *files, "-o", tmp_path / "out", "--engine", "processes:2")
    assert (done.code, done.err.strip()) == (
        2,
        "error: --engine writes a folder of parts: set how many with --parts, such as --parts 64",
    )


def two_files(folder: Path, *ids: pl.Series) -> list[Path]:
    files = [folder / f"{i}.parquet" for i in range(len(ids))]
    for i, (path, question) in enumerate(zip(files, ids, strict=True)):
        pl.DataFrame({"question": question, "sample": i, "answer": "1"}).write_parquet(path)
    return files


def test_ids_that_are_equal_only_together_are_refused_as_they_would_be_in_two_parts(tmp_path: Path) -> None:
    files = two_files(tmp_path, pl.Series([1, 2, 3]), pl.Series([1.0, 2.0, 3.0]))
    with pytest.raises(TableError, match=r"'question' holds Int64 in .*0.parquet and Float64 in .*1.parquet: import"):
        import_parts(files, tmp_path / "out", 7, Here())
    files = two_files(tmp_path, pl.Series([1, 2, 3], dtype=pl.Int16), pl.Series(["1", "2", "3"]))
    assert import_parts(files, tmp_path / "more", 7, Here()).made["questions"] == 3


def test_chunks_that_lost_rows_are_noticed_and_the_same_command_reads_the_files_again(tmp_path: Path) -> None:
    files = three_files(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        import_parts(files, tmp_path / "out", 4, Here(most=3))
    next((tmp_path / "out" / "chunks" / "file-00001").glob("part-*")).unlink()
    with pytest.raises(
        RunError, match=r"the parts hold \d+ of the 180 rows that were read: run the same command again"
    ):
        import_parts(files, tmp_path / "out", 4, Here())
    assert sum(import_parts(files, tmp_path / "out", 4, Here()).rows) == 180


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = three_files(tmp_path)

    def changing(*given: Any) -> Any:
        files[1].write_text(files[1].read_text() + "\n")
        return partitioning.spread(*given)

    monkeypatch.setattr("steelyard.engine.import_chunks.spread", changing)
    said = r"1.csv: it was changed while it was read: .*\); fix these, .*, and import into another folder with -o"
    with pytest.raises(RunError, match=said):
        import_parts(files, tmp_path / "out", 4, Here())


def test_nothing_is_written_over_with_an_engine(tmp_path: Path) -> None:
    words = ("-o", tmp_path / "out", "--engine", "processes:2", "--overwrite")
    for verb in ("import", "vote", "answers"):
        done = steelyard(verb, *three_files(tmp_path)[:1], *words)
        assert (done.code, "--engine overwrites no folder" in done.err) == (2, True)


def test_a_column_may_be_called_runs(tmp_path: Path) -> None:
    pl.DataFrame({"question": ["a"] * 2, "answer": ["1"] * 2, "kind": ["x"] * 2}).write_parquet(tmp_path / "t.parquet")
    import_parts([tmp_path / "t.parquet"], tmp_path / "out", 1, Here(), rename={"kind": "runs"})
    assert sy.vote(tmp_path / "out").height == 1


def test_what_workers_warn_of_is_told_once(tmp_path: Path) -> None:
    files = two_files(tmp_path, pl.Series([1, 2]), pl.Series([3, 4]))
    with pytest.warns(SteelyardWarning, match=r"0.parquet: renaming replaces the columns answer \(and 1 more"):
        import_parts(files, tmp_path / "out", 2, Here(), rename={"sample": "answer"})


def test_standard_input_is_not_for_workers(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="workers cannot read standard input: save it as a file, or leave out"):
        import_parts(["-"], tmp_path / "out", 2, Here())


def test_a_file_that_was_written_again_is_not_taken_for_the_one_that_was_imported(tmp_path: Path) -> None:
    files = three_files(tmp_path)
    import_parts(files, tmp_path / "out", 4, Here())
    os.utime(files[1], (1, 1))
    with pytest.raises(SettingError, match=r"of another command \(the files that are read, .* have changed\): choose"):
        import_parts(files, tmp_path / "out", 4, Here())
