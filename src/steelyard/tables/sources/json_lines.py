"""JSON lines, or rows of Python objects -> a frame.

Lines that polars rejects or would misread are parsed one by one; a column of mixed types becomes JSON text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.foundation.cores import plain_loops
from steelyard.foundation.errors import TableError
from steelyard.foundation.panics import hidden_panics
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.tables.sources.file_checks import (
    DAMAGE,
    LONGEST_LINE,
    MAX_COLUMNS,
    TEXT,
    check_utf8,
    check_width,
    first_line,
)

MIXED = (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
DEEPEST = 100  # levels of brackets
LARGE = 16 << 20  # bytes from which it pays to load a compiled loop
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_UNIQUE = [f'"{name}"'.encode() for name in ("question", "response", "answer", "score", "gold", "correct", "sample")]
# polars rounds integers from 2^53 on if another row has a decimal, turns those beyond 64 bits into null, and changes
# lone surrogates.
_MISREAD = re.compile(rb"[:\[,]\s*-?\d{16}|\\u[dD][89a-fA-F]")


def open_json_lines(path: Path) -> pl.LazyFrame:
    """Read JSON lines, with polars if it can, else line by line (NaN, mixed types, large integers)."""
    if path.stat().st_size > LARGE and not plain_loops() and (table := _read_large(path)) is not None:
        return table.lazy()
    lines, plain = _screened(path)
    if plain:
        try:
            with hidden_panics():
                frame = pl.read_ndjson(path, infer_schema_length=None)
            if frame.width and frame.height == lines:
                return frame.lazy()
        except DAMAGE:
            pass
    rows = list(json_line_records(path))
    if not rows:
        raise TableError(f"{path} is empty: it has no rows to read")
    return frame_of_rows(rows).lazy()


def _screened(path: Path) -> tuple[int, bool]:
    """Check all lines; return how many are not blank, and whether polars reads them correctly."""
    lines, plain = 0, True
    for _, line in _checked_lines(path):
        lines += bool(line.strip())
        plain = plain and _is_plain(line)
    return lines, plain


def _is_plain(line: bytes) -> bool:
    """Whether polars reads a line correctly."""
    return not _MISREAD.search(line) and not any(line.count(name) > 1 and _repeated(name, line) for name in _UNIQUE)


def _is_narrow(line: bytes) -> bool:
    """Whether polars reads a line correctly, and its width is certainly allowed."""
    return line.count(b":") <= MAX_COLUMNS and _is_plain(line)


def _repeated(name: bytes, line: bytes) -> bool:
    return len(re.findall(name + rb"\s*:", line)) > 1


def _read_large(path: Path) -> pl.DataFrame | None:
    """Read a file with compiled loops; None if every line must be looked at."""
    from steelyard.tables.sources.flat_json import read_flat_lines  # compiles

    check_utf8(path)
    table = read_flat_lines(path, LONGEST_LINE, _is_narrow)
    return _read_by_shapes(path) if table is None else table


def _read_by_shapes(path: Path) -> pl.DataFrame | None:
    """Read a file whose lines have few shapes, by one line of each; None if every line must be looked at."""
    from steelyard.tables.sources.json_shapes import shapes_of

    shapes = shapes_of(path, LONGEST_LINE)
    if shapes is None or not all(map(_is_narrow, shapes.examples)):
        return None
    try:
        with hidden_panics():
            schema = pl.read_ndjson(b"\n".join(shapes.examples), infer_schema_length=None).schema
            table = pl.read_ndjson(path, schema=schema)
    except DAMAGE:
        return None
    return table if table.width and table.height == shapes.lines else None


def _checked_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers; refuse a line that is too long, too deeply nested or too wide."""
    check_utf8(path)
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
            if len(line) > LONGEST_LINE:
                raise TableError(f"{path}, line {number} is longer than {LONGEST_LINE >> 20} MB: shorten or remove it")
            if is_deep(line):
                raise TableError(
                    f"{path}, line {number} cannot be read as JSON: it is nested more than {DEEPEST} levels deep; "
                    "flatten or remove it"
                )
            if line.count(b":") > MAX_COLUMNS:
                check_width(path, _bare(line).count(b":"))
            yield number, line


def _bare(line: bytes) -> bytes:
    """Return the part of a line outside strings: every other piece between unescaped quotes."""
    return b"".join(line.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])


def is_deep(text: bytes) -> bool:
    """Whether brackets outside strings are nested more than DEEPEST levels deep.

    There is no Python loop over the characters: a text may be long.
    """
    if text.count(b"{") + text.count(b"[") <= DEEPEST:
        return False
    brackets = np.frombuffer(_bare(text).translate(None, NO_BRACKETS), np.uint8)
    opens = np.isin(brackets, list(b"[{"))
    return int(np.where(opens, 1, -1).cumsum().max(initial=0)) > DEEPEST


def json_line_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object on each line that is not blank, with values that columns can store."""
    for number, line in _checked_lines(path):
        if not line.strip():
            continue
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            row = json.loads(text, object_pairs_hook=unique_names)
        except (ValueError, RecursionError) as error:
            if line.strip() in (b"{", b"["):
                fix = f"write one object per line, with: jq -c . {path} > lines.jsonl"
                raise TableError(f"{path}, line {number} begins an object that spans several lines: {fix}") from None
            message = re.sub(r": line \d+ (column \d+).*", r" at \1", first_line(error))
            raise TableError(f"{path}, line {number} is not JSON ({message}): correct or remove it") from None
        if not isinstance(row, dict):
            kind = type(row).__name__
            raise TableError(
                f"{path}, line {number} is a JSON {kind}, not an object with named fields: write "
                f'{{"question": ..., "response": ...}} on every line'
            )
        yield {replace_surrogates(name): storable(value, name in TEXT) for name, value in row.items()}


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object with these names; a duplicate name is refused, because either value could be meant."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} appears twice in one object")
    return fields


def storable(value: Any, is_text: bool = False) -> Any:
    """Make a value storable in a column: valid text, and integers beyond 64 bits as text so that ids stay distinct.

    >>> storable([{"id": 10**30}]), storable([0.5, 10**30])
    ([{'id': '1000000000000000000000000000000'}], [0.5, 1e+30])
    """
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return str(value) if is_text or _is_huge(value) else value
    if isinstance(value, list):
        if any(isinstance(entry, float) for entry in value):  # scores, not ids
            value = [float(str(entry)) if _is_huge(entry) else entry for entry in value]
        return [storable(entry) for entry in value]
    return {replace_surrogates(name): storable(field) for name, field in value.items()}


def _is_huge(value: Any) -> bool:
    return isinstance(value, int) and abs(value) >= 2**63


def frame_of_rows(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Return rows as a frame. An odd column (metadata, say) must not prevent the others from being read.

    >>> frame_of_rows([{"answer": "1", "more": [1, [2]]}, {"answer": "2", "more": None}]).rows()
    [('1', '[1, [2]]'), ('2', None)]
    >>> frame_of_rows([{"answer": "1", "more": 1}, {"answer": "2", "more": {"a": 2}}]).rows()
    [('1', '1'), ('2', '{"a": 2}')]
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    try:
        frame = _frame(rows)
    except MIXED:
        return pl.DataFrame([column_of_values(name, [row.get(name) for row in rows]) for name in names])
    odd = [name for name in names if is_lossy([row.get(name) for row in rows], frame[name])]
    return frame.with_columns(_texts(name, [row.get(name) for row in rows]) for name in odd)


def is_lossy(values: list[Any], column: pl.Series) -> bool:
    """Whether polars lost values: it drops scalars in a column of objects, and rounds large integers."""
    if column.dtype.is_float():
        return any(type(value) is int and int(float(value)) != value for value in values)
    return "Struct" in str(column.dtype) and any(map(_is_lost, values, column.to_list()))


def _is_lost(value: Any, stored: Any) -> bool:
    if isinstance(value, dict):
        return any(_is_lost(v, stored.get(name) if isinstance(stored, dict) else None) for name, v in value.items())
    if isinstance(value, list):
        return bool(value) and (stored is None or any(map(_is_lost, value, stored)))
    return value is not None and stored is None


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def column_of_values(name: str, values: list[Any]) -> pl.Series:
    """Return one column; values of mixed types become JSON text."""
    if all(value is None or isinstance(value, str) for value in values):
        return pl.Series(name, values, pl.String)
    try:
        column = _frame([{name: value} for value in values]).to_series()
    except MIXED:
        return _texts(name, values)
    return _texts(name, values) if is_lossy(values, column) else column


def _texts(name: str, values: list[Any]) -> pl.Series:
    texts = [value if value is None or isinstance(value, str) else json.dumps(value, default=str) for value in values]
    return pl.Series(name, texts, pl.String)
