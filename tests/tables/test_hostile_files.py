"""Files that are too wide, too long or too deep, and names that a terminal would obey."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import steelyard as sy
from steelyard.cli import console, text_tables
from steelyard.tables.question_files import LONGEST_TEXT, read_questions
from steelyard.tables.sources import json_lines
from steelyard.tables.sources.file_checks import MAX_COLUMNS
from steelyard.tables.sources.opening import open_table
from tests.memory import measured
from tests.running import steelyard

EVIL = "\x1b]0;owned\x07\x1b[31mred\x9b2J\u202e"
SHOWN = r"\x1b]0;owned\x07\x1b[31mred\x9b2J\u202e"
WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".parquet": pl.DataFrame.write_parquet,
    ".csv": pl.DataFrame.write_csv,
    ".jsonl": pl.DataFrame.write_ndjson,
    ".arrow": pl.DataFrame.write_ipc,
}


def responses(**more: Any) -> pl.DataFrame:
    return pl.DataFrame({"question": ["a", "a"], "answer": ["1", "2"], **more})


def control(text: str) -> list[str]:
    return [char for char in text if not char.isprintable() and char != "\n"]


@pytest.mark.parametrize(
    "text", ["[" * 101, "{" * 5000, '\\"' + "[" * 200, "\\\\" * 3 + '"[' * 150, r"\left\{ \frac{a}{b} [x]" * 500]
)
def test_brackets_inside_strings_are_not_nesting(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"question": i, "answer": "1", "response": text}) + "\n" for i in range(3)))
    assert open_table(path).collect()["response"].to_list() == [text] * 3


@pytest.mark.parametrize(
    "deep", ["[" * 101 + "]" * 101, '{"a":' * 150 + "1" + "}" * 150, '[["x",' * 60 + '""' + "]]" * 60]
)
def test_real_nesting_is_still_refused_with_its_line(tmp_path: Path, deep: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"question": 1, "answer": "1"}\n{"question": 1, "answer": "[[", "x": ' + deep + "}\n")
    with pytest.raises(sy.TableError, match="line 2 cannot be read as JSON: it is nested more than 100 levels deep"):
        open_table(path)


def test_a_line_that_is_wide_and_not_deep_is_read_and_one_that_is_broken_is_no_nesting(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"question": 1, "answer": "1", "steps": [[0.5]] * 500}) + "\n")
    assert open_table(path).collect().height == 1
    path.write_text('{"question": 1, "answer": "' + "[" * 200 + "\n")
    with pytest.raises(sy.TableError, match="line 1 is not JSON"):
        open_table(path)


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_file_with_too_many_columns_is_refused_before_it_is_read(tmp_path: Path, suffix: str) -> None:
    wide = responses(prompt=["p", "q"], **{f"c{i}": [1, 2] for i in range(MAX_COLUMNS)})
    path = tmp_path / f"wide{suffix}"
    WRITERS[suffix](wide, path)
    for read in (sy.read, read_questions):
        with pytest.raises(sy.TableError, match=r"has 5,00\d columns, more than 5,000: keep only those you need"):
            read(path)
    WRITERS[suffix](wide.select(wide.columns[:MAX_COLUMNS]), path)
    assert open_table(path).collect_schema().len() == MAX_COLUMNS


def test_a_wide_line_is_refused_before_polars_sees_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({f"c{i}": ":" for i in range(100_000)}) + "\n")
    monkeypatch.setattr(pl, "read_ndjson", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(sy.TableError, match="100,000 columns"):
        open_table(path)


def test_a_line_of_json_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "LONGEST_LINE", 1 << 20)
    path = tmp_path / "t.jsonl"
    path.write_text('{"question": 1, "answer": "1"}\n{"question": 1, "answer": "' + "1" * (1 << 20) + '"}\n')
    with pytest.raises(sy.TableError, match="line 2 is longer than 1 MB: shorten or remove it"):
        open_table(path)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("name", ["gold", "prompt", "question", "answer", "solution"])
def test_a_question_with_a_field_that_no_model_reads_is_refused_with_its_row(
    tmp_path: Path, suffix: str, name: str
) -> None:
    long = "x" * (LONGEST_TEXT + 1)
    layout = {"solution": {"problem": ["p", "q"]}, "answer": {"problem": ["p", "q"]}}
    columns = layout.get(name, {"question": ["a", "b"], "prompt": ["p", "q"], "gold": ["1", "2"]})
    path = tmp_path / f"q{suffix}"
    WRITERS[suffix](pl.DataFrame({**columns, name: ["1", long]}), path)
    with pytest.raises(
        sy.errors.ColumnError, match=rf"row 2 has a text of 1,048,577 bytes in '{name}', more than"
    ) as refused:
        read_questions(path)
    assert len(str(refused.value)) < 400


def test_options_that_no_model_reads_are_refused(tmp_path: Path) -> None:
    table = {"question": ["q"], "options": [["a", "b" * LONGEST_TEXT]], "answer": ["A"]}
    pl.DataFrame(table).write_parquet(tmp_path / "q.parquet")
    with pytest.raises(sy.errors.ColumnError, match="row 1 has a text of"):
        read_questions(tmp_path / "q.parquet")


def test_a_name_that_a_terminal_would_obey_is_shown_as_what_it_is_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    responses(**{EVIL: [0.5, 0.25], "other": [0.5, 0.25]}).write_parquet(path)
    done = steelyard("fit", path)
    assert done.code == 2
    assert SHOWN in done.err
    assert not control(done.err + done.out)
    responses(**{EVIL: [0.5, 0.25]}).rename({"question": "q"}).write_parquet(path)
    for words in (["vote", path], ["vote", path, "--score", EVIL], ["vote", path, "--rename", f"{EVIL}=question"]):
        done = steelyard(*words)
        assert not control(done.err + done.out), words


def test_names_from_a_file_are_shown_as_what_they_are_in_tables(tmp_path: Path) -> None:
    path = tmp_path / f"t{EVIL.replace('/', '')}.parquet"
    pl.DataFrame({"question": [EVIL, EVIL, "b"], "answer": [EVIL, EVIL, "2"]}).write_parquet(path)
    for words in (["vote", path], ["answers", path], ["vote", path, "--method", EVIL], [EVIL], ["vote", f"{path}x"]):
        done = steelyard(*words)
        assert not control(done.err + done.out), words


def test_mixed_scores_with_such_names_are_shown_as_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = sy.simulate(40, 4, seed=0)
    table.with_columns(other=1 - pl.col("score") / 2).rename({"score": EVIL}).write_parquet(path)
    done = steelyard("fit", path, "--score", f"{EVIL}+other", "-o", tmp_path / "plan.json")
    assert done.code == 0, done.err
    assert SHOWN in done.out
    assert not control(done.err + done.out)


@pytest.mark.parametrize(
    "write",
    [
        console.say,
        console.note,
        console.aside,
        console.step,
        lambda text: text_tables.print_table(text, ("a", text), [(text, text)]),
    ],
)
def test_whatever_prints_shows_control_characters_as_what_they_are(
    write: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    write(f"{EVIL}\r\x00\ud800")
    said = capsys.readouterr()
    assert SHOWN in said.out + said.err
    assert not control(said.out + said.err)


def test_the_names_of_columns_and_fields_are_no_patterns(tmp_path: Path) -> None:
    fields = pl.struct(pl.lit("x").alias("*"), pl.lit("y").alias("^b.*$"))
    rows = pl.DataFrame({"question": ["a", "a"], "answer": ["1", "1"]}).with_columns(meta=fields)
    rows.write_parquet(tmp_path / "t.parquet")
    done = steelyard("vote", tmp_path / "t.parquet", "--json")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    "words", [["answers"], ["vote"], ["evaluate", "--score", "none"], ["import", "-o", "o.parquet"]]
)
@pytest.mark.parametrize(("rows", "megabytes"), [(6_000, 1), (100, 60)])
def test_a_small_parquet_file_of_huge_texts_is_refused(
    tmp_path: Path, words: list[str], rows: int, megabytes: int
) -> None:
    """A dictionary holds each text once, so that 6 GB of responses take a few kilobytes."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["a" * megabytes * 1_000_000]))
    table = pa.table({"question": pa.array([f"q{i // 4}" for i in range(rows)]), "response": texts})
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=1 << 30, store_schema=False)
    assert path.stat().st_size < 50_000
    done = measured("from steelyard.cli import main\nmain()", words[0], path, *words[1:], cwd=tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert "more than 1,024 MB of text" in done.err
    assert done.peak < 450


@pytest.mark.parametrize("column", ["list", "array", "struct", "nested", "binary", "two columns"])
def test_texts_in_lists_and_structs_and_of_all_columns_count(tmp_path: Path, column: str) -> None:
    rows, text = 1_500, b"a" * 1_000_000
    indices, offsets = pa.array([0] * rows, pa.int32()), pa.array(range(rows + 1), pa.int32())
    texts = pa.DictionaryArray.from_arrays(indices, pa.array([text.decode()]))
    half = pa.DictionaryArray.from_arrays(indices, pa.array([text.decode()[::2]]))
    lists = pa.ListArray.from_arrays(offsets, texts)
    shapes = {
        "list": {"response": lists},
        "array": {"response": pa.FixedSizeListArray.from_arrays(texts, 1)},
        "struct": {"response": pa.StructArray.from_arrays([texts], ["text"])},
        "nested": {"response": pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays([lists], ["texts"]))},
        "binary": {"response": pa.DictionaryArray.from_arrays(indices, pa.array([text]))},
        "two columns": {"prompt": half, "response": half},
    }
    table = pa.table({"question": pa.array([f"q{i // 4}" for i in range(rows)]), **shapes[column]})
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=1 << 30, store_schema=False)
    program = "import sys\nfrom steelyard.tables.sources.opening import open_table\nopen_table(sys.argv[1])"
    done = measured(program, path)
    assert "more than 1,024 MB of text" in done.err
    assert done.peak < 450
