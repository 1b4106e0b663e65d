"""JSON lines -> a frame. Where polars gives up or would guess, the lines are read one by one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.errors import TableError
from steelyard.panics import unprinted
from steelyard.surrogates import whole
from steelyard.tables.sources.damage import DAMAGE, first_line
from steelyard.tables.sources.width import LONGEST_LINE, MOST_COLUMNS, TEXT, check_width

DEEPEST = 100  # brackets within brackets
# Whole numbers beyond 64 bits become null in polars, halves of surrogate pairs something else.
_ODD_JSON = re.compile(rb"[:\[,]\s*-?\d{19}|\\u[dD][89a-fA-F]")


def open_json_lines(path: Path) -> pl.LazyFrame:
    """Read JSON lines; where polars gives up or would guess (NaN, mixed types, odd numbers), line by line."""
    lines, plain = _screened(path)
    if plain:
        try:
            with unprinted():
                frame = pl.read_ndjson(path, infer_schema_length=None)
            if frame.width and frame.height == lines:
                return frame.lazy()
        except DAMAGE:
            pass
    return pl.DataFrame(_json_rows(path), infer_schema_length=None, strict=False).lazy()


def _screened(path: Path) -> tuple[int, bool]:
    """Count the lines that hold something; refuse long, wide and deep ones; say whether polars may read them."""
    lines, plain = 0, True
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
            if len(line) > LONGEST_LINE:
                raise TableError(f"{path}, line {number} is longer than {LONGEST_LINE >> 20} MB: shorten or remove it")
            lines += bool(line.strip())
            plain = plain and not _ODD_JSON.search(line)
            if line.count(b"{") + line.count(b"[") > DEEPEST and _is_deep(line):
                raise TableError(f"{path}, line {number} is not JSON we read: it is nested more than {DEEPEST} deep")
            if line.count(b":") > MOST_COLUMNS:
                check_width(path, _bare(line).count(b":"))
    return lines, plain


def _bare(line: bytes) -> bytes:
    """The part of a line outside strings: without its escapes, every other piece between quotes."""
    return b"".join(line.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])


def _is_deep(line: bytes) -> bool:
    """Whether brackets are nested more than DEEPEST deep, those inside strings left out.

    None of this is a loop over the letters of a line, which may be long.
    """
    bare = _bare(line)
    if bare.count(b"{") + bare.count(b"[") <= DEEPEST:
        return False
    letters = np.frombuffer(bare, np.uint8)
    steps = np.isin(letters, list(b"[{")).astype(np.int64) - np.isin(letters, list(b"]}"))
    return int(steps.cumsum().max(initial=0)) > DEEPEST


def _json_rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                row = json.loads(text, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
            except (ValueError, RecursionError) as error:
                what = re.sub(r": line \d+ (column \d+).*", r" at \1", first_line(error))
                raise TableError(f"{path}, line {number} is not JSON ({what}): correct or remove it") from None
            if not isinstance(row, dict):
                kind = type(row).__name__
                raise TableError(f"{path}, line {number} is a JSON {kind}, not an object with named fields")
            rows.append({whole(name): _tame(value, name in TEXT) for name, value in row.items()})
    if not rows:
        raise TableError(f"{path} is empty: it has no rows to read")
    return rows


def _tame(value: Any, is_text: bool) -> Any:
    """Make a value one that every column can hold: whole text, numbers within range."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        if is_text:
            return str(value)
        return value if isinstance(value, float) or abs(value) < 2**63 else float("inf" if value > 0 else "-inf")
    return value
