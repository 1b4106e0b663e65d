"""JSON lines -> a frame. Where polars gives up or would guess, the lines are read one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.foundation.panics import hidden_panics
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.tables.sources.damage import DAMAGE, first_line
from steelyard.tables.sources.encodings import check_utf8
from steelyard.tables.sources.frames_of_rows import frame_of_rows
from steelyard.tables.sources.width import LONGEST_LINE, MOST_COLUMNS, TEXT, check_width

DEEPEST = 100  # brackets within brackets
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
# Whole numbers from 2^53 on are rounded in polars if another row has a decimal, and beyond 64 bits they become null;
# halves of surrogate pairs become something else.
_ONCE = [f'"{name}":'.encode() for name in ("question", "response", "answer", "score", "gold", "correct", "sample")]
_ODD_JSON = re.compile(rb"[:\[,]\s*-?\d{16}|\\u[dD][89a-fA-F]")


def open_json_lines(path: Path) -> pl.LazyFrame:
    """Read JSON lines; where polars gives up or would guess (NaN, mixed types, odd numbers), line by line."""
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
    """Count the lines that hold something; refuse long, wide and deep ones; say whether polars may read them."""
    lines, plain = 0, True
    for _, line in _checked_lines(path):
        lines += bool(line.strip())
        plain = plain and not _ODD_JSON.search(line) and not any(line.count(name) > 1 for name in _ONCE)
    return lines, plain


def _checked_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers; refuse one that is too long, too deep or too wide."""
    check_utf8(path)
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
            if len(line) > LONGEST_LINE:
                raise TableError(f"{path}, line {number} is longer than {LONGEST_LINE >> 20} MB: shorten or remove it")
            if is_deep(line):
                raise TableError(f"{path}, line {number} is not JSON we read: it is nested more than {DEEPEST} deep")
            if line.count(b":") > MOST_COLUMNS:
                check_width(path, _bare(line).count(b":"))
            yield number, line


def _bare(line: bytes) -> bytes:
    """The part of a line outside strings: without its escapes, every other piece between quotes."""
    return b"".join(line.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])


def is_deep(text: bytes) -> bool:
    """Whether brackets are nested more than DEEPEST deep, those inside strings left out.

    None of this is a loop over the letters of a text, which may be long.
    """
    if text.count(b"{") + text.count(b"[") <= DEEPEST:
        return False
    brackets = np.frombuffer(_bare(text).translate(None, NO_BRACKETS), np.uint8)
    opens = np.isin(brackets, list(b"[{"))
    return int(np.where(opens, 1, -1).cumsum().max(initial=0)) > DEEPEST


def json_line_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object on each line that holds something, checked and made what a column can hold."""
    for number, line in _checked_lines(path):
        if not line.strip():
            continue
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            row = json.loads(text, object_pairs_hook=once_each)
        except (ValueError, RecursionError) as error:
            if line.strip() in (b"{", b"["):
                fix = f"write one object per line, with: jq -c . {path} > lines.jsonl"
                raise TableError(f"{path}, line {number} begins an object that spans several lines: {fix}") from None
            what = re.sub(r": line \d+ (column \d+).*", r" at \1", first_line(error))
            raise TableError(f"{path}, line {number} is not JSON ({what}): correct or remove it") from None
        if not isinstance(row, dict):
            kind = type(row).__name__
            raise TableError(f"{path}, line {number} is a JSON {kind}, not an object with named fields")
        yield {replace_surrogates(name): tamed(value, name in TEXT) for name, value in row.items()}


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these names; one that stands twice is refused: nobody can tell which of the two is meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} stands twice in one object")
    return found


def tamed(value: Any, is_text: bool = False) -> Any:
    """Make a value one that a column can hold: valid text; integers beyond 64 bits as text, so that ids stay distinct.

    >>> tamed([{"id": 10**30}]), tamed([0.5, 10**30])
    ([{'id': '1000000000000000000000000000000'}], [0.5, 1e+30])
    """
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return str(value) if is_text or _is_huge(value) else value
    if isinstance(value, list):
        if any(isinstance(each, float) for each in value):  # scores, not ids
            value = [float(str(each)) if _is_huge(each) else each for each in value]
        return [tamed(each) for each in value]
    return {replace_surrogates(name): tamed(each) for name, each in value.items()}


def _is_huge(value: Any) -> bool:
    return isinstance(value, int) and abs(value) >= 2**63
