"""Large files of flat JSON lines are read by one loop, as the general parser reads them."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.tables.sources import flat_json, json_lines
from steelyard.tables.sources.file_checks import LONGEST_LINE
from steelyard.tables.sources.json_lines import _is_narrow, _read_by_shapes
from tests.tables.test_json_shapes import HOSTILE, PLAIN, outcome

MANY = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
BLOCKS = (150, 400, 1 << 20)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    st.sampled_from(["", "a", "1234567", "12345678", "123456789", "\\frac{1}{2}\n", '"', "é" * 9, "x" * 70]),
)
DIGITS = st.text("0123456789", min_size=1, max_size=25)
NUMBERS = st.one_of(
    st.floats(1e-200, 1e200).map(repr),
    st.floats(-1, 1).map(lambda value: f"{value:.20f}"),
    st.builds(lambda first, rest: f"{first}.{rest}", st.integers(-(10**14), 10**14), DIGITS),
    st.builds(lambda digit, rest, e: f"{digit}.{rest}e{e}", st.integers(-9, 9), DIGITS, st.integers(-200, 200)),
    st.sampled_from(["-0.0", "0.5", "1E5", "1e+05", "-1e-05", "0e5", "0.1", "5e-1", "9007199254740993.0e-1"]),
)
INTEGERS = st.integers(-(10**15) + 1, 10**15 - 1).map(str)
NULL = st.just("null")
COLUMNS = [
    TEXTS.map(json.dumps), TEXTS.map(lambda text: json.dumps(text, ensure_ascii=False)),
    TEXTS.map(json.dumps) | NULL, NUMBERS, NUMBERS | NULL, INTEGERS, INTEGERS | NULL, INTEGERS | NUMBERS,
    st.sampled_from(["true", "false"]), st.sampled_from(["true", "false", "null"]), NULL,
]  # fmt: skip
NAMES = ("question", "answer", "score", "é", "a b")


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Lines that are read by the loop."""
    columns = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=len(NAMES)))
    colon, comma, end = draw(st.sampled_from([(":", ",", ""), (": ", ", ", ""), (" :\t", " , ", " ")]))
    lines = [
        "{" + comma.join(f'"{name}"{colon}{draw(column)}' for name, column in zip(NAMES, columns, strict=False)) + "}"
        for _ in range(draw(st.integers(1, 12)))
    ]
    lines *= draw(st.sampled_from([1, 1, 3]))
    end += draw(st.sampled_from(["\n", "\r\n"]))
    return "".join(line + end for line in lines)[: draw(st.sampled_from([None, -1]))].encode()


def same(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Whether two tables are equal, with every bit of their decimals."""
    frames = [frame.with_columns(pl.col(pl.Float64).reinterpret(signed=True)) for frame in (one, other)]
    return one.schema == other.schema and frames[0].equals(frames[1])


def same_with_and_without(path: Path) -> bool:
    """Whether a file has the same result by the loop and by the general parser."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(json_lines, "LARGE", -1)
        by_loop = outcome(path)
        changed.setattr(flat_json, "read_flat_lines", lambda *_: None)
        general = outcome(path)
    if isinstance(by_loop, str) or isinstance(general, str):
        return isinstance(by_loop, str) and isinstance(general, str) and by_loop == general
    return same(by_loop, general)


def flat(path: Path) -> pl.DataFrame | None:
    return flat_json.read_flat_lines(path, LONGEST_LINE, _is_narrow)


@given(content=files(), block=st.sampled_from(BLOCKS))
@MANY
def test_flat_lines_are_read_as_by_the_general_parser(content: bytes, block: int, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(flat_json, "BLOCK", block)
        read = flat(path)
        assert same_with_and_without(path)
    general = _read_by_shapes(path)
    if general is not None and max(map(len, content.split(b"\n"))) < block - 3:
        assert read is not None
        assert same(read, general)


@given(content=files(), data=st.data())
@settings(MANY, max_examples=300)
def test_damaged_lines_are_read_or_refused_as_by_the_general_parser(
    content: bytes, data: st.DataObject, tmp_path: Path
) -> None:
    begin = data.draw(st.integers(0, len(content)))
    end = min(len(content), begin + data.draw(st.integers(0, 2)))
    inserted = st.sampled_from([*b'"\\,:{}[]0123-+.eEnt \t\r\n\0\x1f\x7f\xc3\xff'])
    path = tmp_path / "lines.jsonl"
    path.write_bytes(content[:begin] + bytes(data.draw(st.lists(inserted, max_size=3))) + content[end:])
    assert same_with_and_without(path)


@pytest.mark.parametrize("line", [*HOSTILE, PLAIN])
@pytest.mark.parametrize("first", [True, False])
def test_hostile_lines_are_read_or_refused_as_by_the_general_parser(line: str, first: bool, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join([line, PLAIN, PLAIN] if first else [PLAIN, PLAIN, line]), encoding="utf-8", newline="")
    assert same_with_and_without(path)


VALUES = [
    *("-", "+1", "01", "-01", "1.", ".5", "1.e5", "1e", "1e+", "0x1", "1e400", "1e-400", "1e99999", "123456789012345"),
    *("1234567890123456", "1234567890123456.5", "NaN", "nul", "nulll", "truee", "True", "falsy", "fals", "[1]", "{}"),
    *('"\\x"', '"\\u12"', '"\\u12g4"', '"\\ud800"', '"\\u0000"', '"\\u00e9\\u4e2d\\u0041"'),
    '"\\b\\f\\n\\r\\t\\/\\\\\\""',
    *('"a\tb"', '"a', '"a\\', '"a\\"', "", " ", "1 2", '"a" "b"', "1}", '"x": 1', "-0", "0.0", "-0.0e5", "1" * 400),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("other", ["1", "0.5", '"x"', "null", "true"])
def test_odd_values_are_read_or_refused_as_by_the_general_parser(value: str, other: str, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    for values in ([value, other], [other, value], [other, other, value, other]):
        path.write_text("".join(f'{{"question":"q","score":{value}}}\n' for value in values), newline="")
        assert same_with_and_without(path)


def test_bytes_that_are_not_utf8_are_read_or_refused_as_by_the_general_parser(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    for odd in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf0\x9f\x98\x80"):
        path.write_bytes(b'{"question":"q","answer":"1"}\n{"question":"q","answer":"' + odd + b'"}\n')
        assert same_with_and_without(path)
        path.write_bytes(b'{"question":"q","' + odd + b'":"1"}\n' * 2)
        assert same_with_and_without(path)


@pytest.mark.parametrize("size", [30, 31, 32, 33, 34])
def test_a_line_that_does_not_fit_into_a_block_is_left_to_the_general_parser(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, line = tmp_path / "lines.jsonl", '{"question":"a","answer":"123"}'  # 31 bytes
    monkeypatch.setattr(flat_json, "BLOCK", size)
    for end in ("", "\n"):
        path.write_text("\n".join([line] * 5) + end)
        assert (flat(path) is not None) == (size > len(line))
        assert same_with_and_without(path)


def test_types_that_change_between_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flat_json, "BLOCK", 100)
    rows: list[dict[str, Any]] = [
        {"a": i if i < 30 else i / 7, "b": None if i < 40 else "x", "c": None, "d": None if i % 9 else i}
        for i in range(60)
    ]
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    read = flat(path)
    assert read is not None
    assert read.schema == {"a": pl.Float64, "b": pl.String, "c": pl.Null, "d": pl.Int64}
    assert read.rows(named=True) == rows
    path.write_text("\n".join(map(json.dumps, [*rows, {"a": "x", "b": "x", "c": 1, "d": 1}])))
    assert flat(path) is None
    assert same_with_and_without(path)


def test_decimals_in_doubt_are_decided_by_python(tmp_path: Path) -> None:
    halfway = ["0.10000000000000001249000902703301107976585626602172851562", "1.00000000000000011102"]
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(f'{{"score":{value}}}\n' for value in halfway))
    read = flat(path)
    assert read is not None
    assert read["score"].to_list() == [float(value) for value in halfway]


def test_many_columns_repeated_names_and_many_shapes_are_left_to_the_general_parser(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    for width in (flat_json.MOST_COLUMNS, flat_json.MOST_COLUMNS + 1):
        path.write_text(json.dumps({f"name{i}": i for i in range(width)}))
        assert (flat(path) is not None) == (width <= flat_json.MOST_COLUMNS)
        assert same_with_and_without(path)
    path.write_text('{"a":1,"a":2}\n')
    assert flat(path) is None
    path.write_text(
        "".join(json.dumps({f"n{k}": i if i >> k & 1 else None for k in range(11)}) + "\n" for i in range(2048))
    )
    assert flat(path) is None
    assert same_with_and_without(path)
