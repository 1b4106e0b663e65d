"""Large files of JSON lines are read by the shapes of their lines, as if every line was looked at."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import steelyard as sy
from steelyard.tables.sources import flat_json, json_lines, json_shapes
from steelyard.tables.sources.json_lines import open_json_lines
from steelyard.tables.sources.json_shapes import shapes_of

MANY = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
LONGEST = 1 << 20
PLAIN = '{"question": "a", "answer": "1", "score": 0.5}'
HOSTILE = [
    '{"question": "a", "answer" : "1", "answer" :"2"}',
    '{"question": "a", "question": "b", "answer": "1"}',
    '{"question":"a","question":"b","answer":"1"}',
    '{"question": 12345678901234567890123, "answer": "1"}',
    '{"question": "a", "answer": 1234567890123456, "score": 0.5}',
    '{"question": "a", "answer": -1234567890123456}',
    '{"question": "a", "answer": "\\ud83d", "score": 1}',
    '{"question": "a", "answer": "\\ud83d\\ude00", "score": 1}',
    '{"question": "a", "answer": "\\\\frac{1}{2} \\"x\\": 3", "score": 1}',
    '{"question": "a", "answer": "1", "score": NaN}',
    '{"question": "a", "answer": "1", "score": -Infinity}',
    '{"question": "a", "answer": "1", "score": 1e400}',
    '{"question": "a", "answer": "1", "score": nul}',
    '{"question": "a", "answer": "1", "score": 0.5',
    '{"question": "a", "answer": "1}',
    '{"question": "a", "answer": "1\\',
    '{"question": "a", "answer": "1"}}',
    '{"question": "a", "answer": ' + "[" * 150 + "]" * 150 + "}",
    '{"question": "a", "answer": "1", "x": ' + "[" * 70 + "]" * 70 + "}",
    '{"question": "a", "answer": "1", "x": {"question": "c"}}',
    '{"question": "a", "answer": "1", "score": "high"}',
    '{"question": "a", "answer": 1, "score": true}',
    '{"question": "a", "answer": null, "score": null, "more": [1, null, 0.5, "x", {"y": []}]}',
    '{"question" : "a" , "answer"\t:"1","score":0.25}\r',
    '["question", "a"]',
    "7",
    '"text"',
    "{}",
    "]",
    "",
    "   ",
    "\x00",
    "é",
]
NAMES = st.sampled_from(["question", "answer", "score", "steps", "meta", "é", 'a"b', "with\\slash"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**14), 10**14), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=5
)


def outcome(path: Path) -> pl.DataFrame | str:
    try:
        return open_json_lines(path).collect()
    except sy.errors.SteelyardError as error:
        return str(error)


def same_as_every_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    results = []
    monkeypatch.setattr(flat_json, "read_flat_lines", lambda *_: None)
    for large in (1 << 40, -1):
        monkeypatch.setattr(json_lines, "LARGE", large)
        results.append(outcome(path))
    every_line, by_shape = results
    if isinstance(every_line, str) or isinstance(by_shape, str):
        return isinstance(every_line, str) and isinstance(by_shape, str) and every_line == by_shape
    return every_line.schema == by_shape.schema and every_line.equals(by_shape)


@pytest.mark.parametrize("line", HOSTILE)
@pytest.mark.parametrize("first", [True, False])
def test_hostile_lines_are_read_or_refused_as_by_every_line(
    line: str, first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join([line, PLAIN, PLAIN] if first else [PLAIN, PLAIN, line]), encoding="utf-8", newline="")
    assert same_as_every_line(path, monkeypatch)


@given(rows=st.lists(st.dictionaries(NAMES, VALUES, max_size=4), min_size=1, max_size=8), escaped=st.booleans())
@MANY
def test_any_rows_are_read_as_by_every_line(
    rows: list[dict[str, Any]], escaped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines.jsonl"
    texts = [json.dumps(row, ensure_ascii=escaped) for row in rows]
    path.write_text("\n".join(texts), encoding="utf-8", errors="replace", newline="")
    assert same_as_every_line(path, monkeypatch)


@pytest.mark.parametrize("block", [1, 40, 1 << 20])
def test_one_line_of_each_shape_is_an_example(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_shapes, "BLOCK", block)
    rows: list[dict[str, Any]] = [
        {"question": f"q{i}", "score": i / 7 + 0.01, "steps": [0.5] * (i % 5)} for i in range(50)
    ]
    rows[20]["score"] = None
    rows[30]["steps"] = [0.5, None]
    path = tmp_path / "lines.jsonl"
    path.write_text("\n\n".join(map(json.dumps, rows)) + "\n")
    shapes = shapes_of(path, LONGEST)
    assert shapes is not None
    assert shapes.lines == 50
    assert [json.loads(example) for example in shapes.examples] == [rows[i] for i in (0, 1, 20, 30)]


def test_an_ordinary_file_is_read_by_its_shapes(tmp_path: Path) -> None:
    path, table = tmp_path / "lines.jsonl", sy.simulate(questions=20, samples=4)
    table.write_ndjson(path)
    read = json_lines._read_by_shapes(path)
    assert read is not None
    assert read.equals(pl.read_ndjson(path, infer_schema_length=None))


def test_files_with_many_shapes_or_long_lines_have_no_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join(json.dumps({f"name{i}": 1}) for i in range(json_shapes.MOST_SHAPES + 1)))
    assert shapes_of(path, LONGEST) is None
    path.write_text(json.dumps({"answer": "x" * 100}))
    assert shapes_of(path, 200) is not None
    assert shapes_of(path, 50) is None
    monkeypatch.setattr(json_shapes, "BLOCK", 10)
    assert shapes_of(path, 50) is None


def test_names_that_differ_in_bits_that_cancel_have_different_shapes(tmp_path: Path) -> None:
    names = "quality_rew2ard_by_judge", "1uality_2ew0ard_by_judge"  # one hash for half of all secrets, at one time
    (tmp_path / "two.jsonl").write_text("".join(f'{{"question": "a", "{name}": 0.5}}\n' for name in names))
    for secret in range(1, 400, 2):
        with pytest.MonkeyPatch.context() as changed:
            changed.setattr(json_shapes, "SECRET", np.uint64(secret * 0x9E3779B97F4A7C15 % 2**64 | 1))
            shapes = shapes_of(tmp_path / "two.jsonl", LONGEST)
        assert shapes is not None
        assert len(shapes.examples) == 2
