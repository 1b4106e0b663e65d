"""Files as they are before their rows have a meaning: packed, piped, several, in folders, in one JSON value."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pyarrow as pa
import pytest

import steelyard as sy
from steelyard.tables.sources import json_files, unpacking
from steelyard.tables.sources.opening import open_source, open_table
from steelyard.tables.sources.unpacking import plain_file
from tests.running import Done, steelyard

TABLE = sy.simulate(5, 4, seed=0)
SUFFIXES = [".parquet", ".jsonl", ".csv", ".arrow", ".json"]


@pytest.fixture(autouse=True)
def fresh_stdin() -> Iterator[None]:
    yield
    unpacking._spooled_stdin.cache_clear()


def content(suffix: str, folder: Path) -> bytes:
    path = folder / f"plain{suffix}"
    if suffix == ".json":
        path.write_text(json.dumps(TABLE.to_dicts()))
    else:
        sy.write(TABLE, path)
    return path.read_bytes()


def piped(raw: bytes, *words: object) -> Done:
    with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw))):
        return steelyard(*words)


def zstd(path: Path, raw: bytes) -> Path:
    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write(raw)
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_is_read_packed_and_from_standard_input_as_it_is_plain(tmp_path: Path, suffix: str) -> None:
    raw = content(suffix, tmp_path)
    packed = tmp_path / f"a{suffix}.gz"
    packed.write_bytes(gzip.compress(raw))
    expected = sy.read(TABLE)
    for path in (packed, zstd(tmp_path / f"b{suffix}.zst", raw)):
        pool = sy.read(path)
        assert (pool.answer.tolist(), repr(pool)) == (expected.answer.tolist(), repr(expected))
    said = steelyard("vote", tmp_path / f"plain{suffix}", "--json")
    for stream in (raw, packed.read_bytes()):
        done = piped(stream, "vote", "-", "--json")
        assert (done.code, done.out) == (0, said.out), done.err
        unpacking._spooled_stdin.cache_clear()


def test_polars_unpacks_text_where_nothing_else_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "find_spec", lambda _: None)
    monkeypatch.setattr(sys, "version_info", (3, 11))
    path = zstd(tmp_path / "t.jsonl.zst", content(".jsonl", tmp_path))
    assert sy.read(path).n_responses == TABLE.height
    with pytest.raises(sy.TableError, match="pip install pyarrow, or unpack it with zstd -d"):
        sy.read(zstd(tmp_path / "t.parquet.zst", content(".parquet", tmp_path)))


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.jsonl.zst"])
def test_a_packed_file_that_is_damaged_is_one_line_with_its_own_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    raw = content(".jsonl", tmp_path)
    whole = gzip.compress(raw) if name.endswith("gz") else zstd(path, raw).read_bytes()
    for broken in (whole[:-9], b"nothing", whole[:20] + b"\x00" * 20 + whole[40:]):
        path.write_bytes(broken)
        done = steelyard("vote", path)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert str(path) in done.err
    packed = gzip.compress(b'{"question": "a", "answer": "1"}\n{"question"\n') if name.endswith("gz") else None
    if packed:
        path.write_bytes(packed)
        assert f"{path}, line 2 is not JSON" in steelyard("vote", path).err


def test_a_small_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "LARGEST", 1 << 20)
    monkeypatch.setattr(unpacking, "LARGEST_RATIO", 2)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a" * (4 << 20)))
    with pytest.raises(sy.TableError, match=r"bomb.csv.gz unpacks to more than 1 MB: unpack it yourself"):
        sy.read(path)


def test_a_packed_file_is_unpacked_once_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"question,answer\na,1\n"))
    first = plain_file(path).path
    assert plain_file(path).path == first
    path.write_bytes(gzip.compress(b"question,answer\na,1\nb,2\n"))
    assert sy.read(path, score="none").n_responses == 2


def test_folders_patterns_and_several_files_are_one_table(tmp_path: Path) -> None:
    sy.write(TABLE.head(8), tmp_path / "a.parquet")
    sy.write(TABLE.tail(12), tmp_path / "b.parquet")
    (tmp_path / "dataset_info.json").write_text("{}")
    expected = sy.read(TABLE).answer.tolist()
    both = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for source in (tmp_path, str(tmp_path / "*.parquet"), both, [str(path) for path in both], tuple(both)):
        assert sy.read(source).answer.tolist() == expected
    assert steelyard("vote", tmp_path / "*.parquet", "--json").out == steelyard("vote", tmp_path, "--json").out
    sy.write(TABLE, tmp_path / "c.csv")
    with pytest.raises(sy.TableError, match=r"several formats: choose one of them: .*\*\.parquet'") as refused:
        sy.read(tmp_path)
    pattern = str(refused.value).split("'")[1]
    assert sy.read(pattern).answer.tolist() == expected
    with pytest.raises(sy.TableError, match="no file matches the pattern"):
        sy.read(str(tmp_path / "*.jsonl"))


def test_an_opened_file_gives_its_first_record_all_records_and_its_columns(tmp_path: Path) -> None:
    rows = [{"custom_id": "a", "body": {"choices": [{"text": "x"}]}}, {"custom_id": "b", "body": None}]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(row)}\n\n" for row in rows))
    (tmp_path / "t.json").write_text(json.dumps(rows))
    (tmp_path / "one.json").write_text(json.dumps({"id": "x", "choices": [{"index": 0}, {"index": 1}]}))
    for name in ("t.jsonl", "t.json"):
        file = open_source(tmp_path / name)
        assert (file.first, list(file.records()), file.paths) == (rows[0], rows, (tmp_path / name,))
        assert file.frame().collect().height == 2
    assert len(open_source(tmp_path / "one.json").first["choices"]) == 2
    assert [part.paths for part in open_source([tmp_path / "t.json", tmp_path / "t.jsonl"]).parts()] == [
        (tmp_path / "t.json",), (tmp_path / "t.jsonl",),
    ]  # fmt: skip


@pytest.mark.parametrize("raw", [b"", b"[", b"[1, 2]", b'{"a"', b"\xff\xfe{}", b"[]", b"null", b'"text"', b"[[[[" * 40])
def test_json_that_is_no_table_is_one_line_and_its_first_record_is_nothing(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(raw)
    assert open_source(path).first == {}
    done = steelyard("vote", path)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err


def test_json_too_deep_too_wide_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.json"
    path.write_text('[{"question": "a", "answer": "1", "x": ' + "[" * 200 + "]" * 200 + "}]")
    with pytest.raises(sy.TableError, match="nested more than 100 levels deep"):
        open_table(path)
    path.write_text(json.dumps([{f"c{i}": 1 for i in range(6000)}]))
    with pytest.raises(sy.TableError, match="6,000 columns"):
        open_table(path)
    monkeypatch.setattr(json_files, "LARGEST", 100)
    with pytest.raises(sy.TableError, match="write it as JSON lines"):
        open_table(path)


def test_halves_of_surrogate_pairs_and_huge_numbers_inside_lists_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"question": "a", "completions": ["x \\ud800 4", "It is 5"], "scores": [0.5, 1' + "0" * 30 + "]}\n"
    )
    assert pl.Series(open_table(path).collect()["completions"][0]).to_list() == ["x \ufffd 4", "It is 5"]
    assert "outside [0, 1]" in steelyard("vote", path, "--method", "vanilla").err
