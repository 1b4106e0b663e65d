"""Separated values: what may stand before the header, a header that is missing, and text that cannot be read."""

from __future__ import annotations

import warnings
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.tables.sources import csv_files
from steelyard.tables.sources.csv_front import front_of
from tests.running import steelyard

HEADER = "question,answer,score\n"
ROWS = "a,4,0.75\na,5,0.25\nb,4,0.5\n"

READ = {
    "comments": "# made by us, on 3 machines\n# columns: question, answer, score\n" + HEADER + ROWS,
    "comments behind a byte order mark": "\ufeff# made by us\n" + HEADER + ROWS,
    "a separator as Excel writes it": "sep=;\r\n" + (HEADER + ROWS).replace(",", ";"),
    "blank lines": "\n\n" + HEADER + ROWS,
    "a column that is called #": "#," + HEADER + "".join(f"{i},{row}\n" for i, row in enumerate(ROWS.split())),
    "ids that begin with #": HEADER + '#1,4,0.75\n#1,"5",0.25\n#2,"# It is\n4",0.5\n',
    "commas in a .tsv": HEADER + ROWS,
    "a response with # in it": HEADER + 'a,"#### 4",0.75\na,5,0.25\nb,"#\n4",0.5\n',
}
REFUSED = {
    "names behind #": ("# " + HEADER + ROWS, "line 1 has a '#' before the column names: remove it"),
    "no header": (ROWS, "its first line contains values (a, 4, 0.75), not column names"),
    "no header, twice the same": ("q,4,4\nq,5,5\n", "its first line contains values (q, 4, 4)"),
    "sentences": ("q1,So the answer is 4\nq1,It is 5\n", "add a header before it"),
    "only a header": (HEADER, "is empty: it has a header but no rows"),
    "only blank lines": ("\n\n\n", "is empty: it has no rows to read"),
    "lines of old Macs": ((HEADER + ROWS).replace("\n", "\r"), "tr '\\r' '\\n' <"),
    "more cells than names": (HEADER + "a,1,234,0.5\n", "a row has more cells than the header"),
    "a comment among the rows": (HEADER + "a,4,0.5\n# checked, twice\nb,4,0.5\n", "line 3 looks like a comment"),
    "NUL bytes at the end": (HEADER + ROWS + "\0" * 99, "contains NUL bytes"),
    "a last line that was cut off": (HEADER + ROWS + "b,5", "ends in the middle of a line ('b,5' has fewer cells"),
    "a title above the header": ("Our results,,\n,,\n" + HEADER + ROWS, "several columns without a name"),
    "a quote that stays open": (HEADER + 'a,"4,0.5\nb,5,0.5\n', "a quote is not closed"),
}


@pytest.mark.parametrize("kind", READ)
def test_it_is_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("t.tsv" if kind.endswith(".tsv") else "t.csv")
    path.write_text(READ[kind], newline="")
    pool = sy.read(path)
    assert (pool.n_questions, pool.n_responses) == (2, 3)
    assert pool.scores is not None
    assert pool.scores.tolist() == [0.75, 0.25, 0.5]


@pytest.mark.parametrize("kind", REFUSED)
def test_it_is_refused_in_one_line_with_the_fix(tmp_path: Path, kind: str) -> None:
    content, words = REFUSED[kind]
    path = tmp_path / "t.csv"
    path.write_text(content, newline="")
    done = steelyard("vote", path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert words in done.err


def test_text_that_is_not_utf8_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes((HEADER + ROWS + "é,4,0.5\n").encode("latin-1"))
    done = steelyard("vote", path)
    assert done.code == 2
    assert (
        f"its text is not UTF-8: save it as 'CSV UTF-8', or convert it, with: iconv -f WINDOWS-1252 -t UTF-8 {path}"
        in done.err
    )


def test_columns_that_pandas_numbered_can_still_be_renamed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("0,1,2\n" + ROWS)
    assert "rename one" in steelyard("vote", path).err
    assert sy.read(path, rename={"0": "question", "1": "answer"}, score="2").n_responses == 3


def test_objects_over_several_lines_are_offered_the_command_that_joins_them(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{\n "question": "a",\n "answer": "4"\n}\n' * 2)
    with pytest.raises(sy.TableError, match=r"line 1 begins an object that spans several lines: .* jq -c \."):
        sy.read(path)


def test_utf32_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes((HEADER + ROWS).encode("utf-32"))
    with pytest.raises(sy.TableError, match="iconv -f UTF-32 -t UTF-8"):
        sy.read(path)


@pytest.mark.parametrize("indent", [None, 1])
def test_one_json_list_that_is_called_json_lines_is_read(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "t.jsonl"
    text = pl.read_csv((HEADER + ROWS).encode()).write_json()
    path.write_text(text if indent is None else text.replace("[{", "[\n {\n").replace("},{", "},\n{"))
    assert sy.read(path).n_responses == 3


ODD = [
    'a,"4\n5",0.5\n', 'a,"4,\n,""5""",0.5\n', "a,5 inches,0.5\n", 'a,5" wide,0.5\n', "\n", "a,,\r\n", "a,4,0.5\r\n",
    "\r\n",
]  # fmt: skip


@given(rows=st.lists(st.sampled_from([*ODD, "a,4\n", "a\n", 'a,"4\n"\n']), max_size=8), chunk=st.integers(1, 60))
def test_rows_with_too_few_cells_are_counted_and_no_others(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str], chunk: int
) -> None:
    path = tmp_path_factory.mktemp("short") / "rows.csv"
    path.write_text(HEADER + "".join(rows) + "a,4,0.5\n", newline="")
    short = len([row for row in rows if row not in ODD])
    with patch.object(csv_files, "CHUNK", chunk), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        csv_files.check_lines(path, front_of(path))
    if any('5" wide' in row for row in rows):  # what a quote within a cell opens is undefined
        return
    assert [f"(short rows in total: {short})" in str(each.message) for each in told] == [True] * bool(short)


def test_a_short_row_is_reported_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("# ours\n" + HEADER + 'a,"4\n4",0.5\na,5\nb,4,0.5\n')
    with pytest.warns(sy.SteelyardWarning, match=r"rows.csv, line 5 has 2 cells and the header has 3"):
        sy.read(path, score="none", answers="exact")


def test_a_short_row_beside_a_very_long_response_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(HEADER + 'a,"' + "so " * 100_000 + '4",0.5\na,5\nb,4,0.5\n')
    with pytest.warns(sy.SteelyardWarning, match=r"line 3 has 2 cells and the header has 3"):
        sy.read(path, score="none", answers="exact")
