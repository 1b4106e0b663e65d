"""Files that are no tables are named for what they are, with a command that converts them and works."""

from __future__ import annotations

import io
import pickle
import shlex
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.tables.sources.foreign_files import check_foreign
from tests.running import steelyard

ROWS = [{"question": q, "answer": a, "score": s} for q in "ab" for a, s in (("4", 0.75), ("5", 0.25))]


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x" * 64)
    return buffer.getvalue()


def database(folder: Path) -> bytes:
    path = folder / "made.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (question, answer)")
    return path.read_bytes()


def parquet() -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(ROWS).write_parquet(buffer)
    return buffer.getvalue()


WORKBOOK = zipped("[Content_Types].xml", "xl/workbook.xml")
FILES: dict[str, tuple[bytes, str]] = {
    "t.xlsx": (WORKBOOK, "is an Excel workbook: save it as 'CSV UTF-8'"),
    "renamed.csv": (WORKBOOK, "pandas.read_excel('{0}').to_csv('{folder}/renamed_converted.csv', index=False)"),
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, "is an Excel workbook"),
    "t.sqlite": (b"", "sqlite3 -header -csv {0} 'SELECT * FROM TABLE' > {folder}/t.csv"),
    "t.duckdb": (b"\1" * 8 + b"DUCK" + b"\0" * 99, "is a DuckDB database"),
    "t.pkl": (pickle.dumps(ROWS), "is a pickle, which can run code"),
    "pickled.jsonl": (pickle.dumps(ROWS), "is a pickle, which can run code"),
    "arrays.npz": (zipped("scores.npy"), "contains numpy arrays without column names"),
    "t.zip": (zipped("responses.csv"), "is a zip archive: unpack it first, with: unzip {0}"),
    "t.csv.bz2": (b"BZh91AY" + b"\0" * 99, "bunzip2 -k {0}"),
    "t": (parquet(), "is a Parquet file, by its first bytes: rename it to t.parquet"),
    "t.csv": (parquet(), "rename it to t.parquet"),
    "t.parquet": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull --include t.parquet"),
    "page.csv": (b"<!DOCTYPE html>\n<html>Not found</html>\n", "is a web page, not a table"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_foreign_file_is_one_line_that_says_what_it_is(tmp_path: Path, name: str) -> None:
    content, words = FILES[name]
    path = tmp_path / name
    path.write_bytes(content or database(tmp_path))
    done = steelyard("vote", path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert words.format(path, folder=tmp_path) in done.err
    assert "UTF-16" not in done.err


def test_the_command_for_a_pickle_makes_a_table(tmp_path: Path) -> None:
    path = tmp_path / "t.pkl"
    path.write_bytes(pickle.dumps(ROWS))
    with pytest.raises(sy.TableError) as error:
        check_foreign(path)
    command = shlex.split(str(error.value).partition("with: ")[2])
    subprocess.run([sys.executable, *command[1:]], check=True)
    assert sy.read(tmp_path / "t.jsonl").n_responses == len(ROWS)


def test_a_name_with_quotes_in_it_cannot_add_to_the_command(tmp_path: Path) -> None:
    path = tmp_path / "a');import os;('.pkl"
    path.write_bytes(pickle.dumps(ROWS))
    with pytest.raises(sy.TableError) as error:
        check_foreign(path)
    assert "pandas.read_pickle('FILE')" in str(error.value)


@pytest.mark.parametrize("text", ["question,answer\nPAR1,4\n", "question,answer\na,<html>\n"])
def test_a_table_that_only_mentions_such_bytes_is_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert sy.read(path, score="none").n_responses == 1
