"""CSV files -> a lazy frame, separated by commas, semicolons, tabs or bars; broken lines are refused or reported."""

from __future__ import annotations

import csv
import mmap
import re
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.foundation.errors import SteelyardWarning, TableError
from steelyard.tables.names import check_names, is_text, key
from steelyard.tables.sources.csv_front import Front, front_of
from steelyard.tables.sources.file_checks import check_utf8, check_width

INSPECTED_ROWS = 1_000
_DECIMAL_COMMA = r"^\s*-?\d+(,\d+)?\s*$"
_THOUSANDS = r"^\s*-?[1-9]\d{0,2},\d{3}\s*$"
_DUPLICATE = re.compile(r"(.*)_duplicated_\d+")  # polars' name for a column with a duplicate name
LONGEST = 1 << 16  # bytes of a line to inspect
CHUNK = 1 << 24  # bytes to inspect at a time
NEWLINE, QUOTE, HASH = b'\n"#'


def open_separated(path: Path) -> pl.LazyFrame:
    """Read a table with the most frequent separator of its header; blank lines are skipped."""
    check_utf8(path)
    front = front_of(path)
    check_width(path, front.columns)
    check_lines(path, front)
    options: dict[str, Any] = {"separator": front.separator, "skip_lines": front.skipped, "glob": False}
    names = pl.scan_csv(path, infer_schema=False, **options).collect_schema().names()
    check_once(path, names)
    types = {name: pl.String for name in names if is_text(key(name))}
    table = pl.scan_csv(path, schema_overrides=types, infer_schema_length=None, **options)
    return _with_decimal_points(table.filter(~pl.all_horizontal(pl.all().is_null())))


def check_once(path: Path, names: list[str]) -> None:
    """Refuse a header with a duplicate column name, because either column could be meant."""
    twice = next((match[1] for name in names if (match := _DUPLICATE.fullmatch(name)) and match[1] in names), None)
    if twice is not None:
        check_names(_DUPLICATE.sub(r"\1", name) for name in names)
        if not twice:
            raise TableError(
                f"{path} has several columns without a name: name each of them; if the header is further "
                "down, remove the lines before it"
            )
        raise TableError(f"{path} has two columns {twice!r}: remove or rename one")


def _with_decimal_points(table: pl.LazyFrame) -> pl.LazyFrame:
    """Read decimal commas (0,5) in columns whose first rows contain only such numbers; 1,234 alone may be thousands."""
    texts = [name for name, kind in table.collect_schema().items() if kind == pl.String and not is_text(key(name))]
    if not texts:
        return table
    first = table.select(texts).head(INSPECTED_ROWS).collect()
    decimal = [
        column.name
        for column in first.iter_columns()
        if column.str.contains(_DECIMAL_COMMA).all()
        and (column.str.contains(",", literal=True) & ~column.str.contains(_THOUSANDS)).any()
    ]
    points = (pl.col(name).str.strip_chars().str.replace(",", ".", literal=True) for name in decimal)
    return table.with_columns(column.cast(pl.Float64) for column in points)


def check_lines(path: Path, front: Front) -> None:
    """Refuse lines that polars would read as rows with missing cells."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        nul = content.find(b"\0")
        if nul >= 0:
            raise TableError(
                f"{path} contains NUL bytes (the first at byte {nul:,}), so it is damaged or not text: write it again, "
                f"or remove them, with: tr -d '\\000' < {path} > clean{path.suffix}"
            )
        for start in _comments(content):
            line = _line(content, start + 1)
            if not _is_short(line, front):
                continue
            number = sum(content[i : min(i + CHUNK, start)].count(b"\n") for i in range(0, start, CHUNK)) + 2
            if number > front.skipped + 1:
                raise TableError(
                    f"{path}, line {number} looks like a comment ({_shown(line)}), and comments are skipped only "
                    "before the header: remove it, or quote it if it is a row"
                )
        _check_end(path, content, front)
        suspect = _may_have_short_rows(content, front)
    if suspect:
        _warn_about_short_rows(path, front)


def _warn_about_short_rows(path: Path, front: Front) -> None:
    """Warn about rows with fewer cells than the header, with the first of them and their number."""
    limit = csv.field_size_limit(path.stat().st_size + 1)  # a response may be longer than the csv module expects
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.reader(islice(file, front.skipped, None), delimiter=front.separator)
            short = ((rows.line_num, len(row)) for row in rows if 0 < len(row) < front.columns)
            line, cells = next(short, (0, 0))
            others = sum(1 for _ in short)
    finally:
        csv.field_size_limit(limit)
    if line:
        warnings.warn(
            f"{path}, line {front.skipped + line:,} has {cells} cells and the header has {front.columns} (short rows "
            f"in total: {others + 1:,}), so its last columns are read as empty: complete such rows, or remove them",
            SteelyardWarning,
            stacklevel=4,
        )


def _may_have_short_rows(content: mmap.mmap, front: Front) -> bool:
    """Whether a row seems to have fewer cells than the header; a quote inside a cell can cause a false alarm."""
    separator = front.separator.encode()
    if len(separator) > 1:
        return False
    quotes = cells = length = 0  # quotes so far; separators and bytes of the unfinished row at the end of a part
    for begin in range(0, len(content), CHUNK):
        part = np.frombuffer(content[begin : begin + CHUNK], np.uint8)
        quoted = np.flatnonzero(part == QUOTE)
        ends, separators = (
            positions[(quotes + np.searchsorted(quoted, positions)) % 2 == 0]
            for positions in (np.flatnonzero(part == NEWLINE), np.flatnonzero(part == separator[0]))
        )
        before = np.searchsorted(separators, ends)
        counts, lengths = np.diff(before, prepend=-cells), np.diff(ends, prepend=-1 - length) - 1
        if np.any((counts < front.columns - 1) & (lengths > 0)):
            return True
        cells = len(separators) - int(before[-1]) if len(ends) else cells + len(separators)
        length = len(part) - 1 - int(ends[-1]) if len(ends) else length + len(part)
        quotes += len(quoted)
    return False


def _check_end(path: Path, content: mmap.mmap, front: Front) -> None:
    """Refuse a last line without a line ending that has fewer cells than the header."""
    start = content.rfind(b"\n") + 1
    last = content[start : start + LONGEST].strip()
    if start and last and _is_short(last, front):
        raise TableError(
            f"{path} ends in the middle of a line ({_shown(last)} has fewer cells than the header): write it again, or "
            "remove that line"
        )


def _is_short(line: bytes, front: Front) -> bool:
    """Whether a line has fewer cells than the header; one with quotes may continue on the next line."""
    return b'"' not in line and line.count(front.separator.encode()) < front.columns - 1


def _shown(line: bytes) -> str:
    return repr(line[:30].decode(errors="replace").strip())


def _comments(content: mmap.mmap) -> Iterator[int]:
    """Yield the position of each newline before a # outside quotes, that is, after an even number of them."""
    quotes = 0
    for begin in range(0, len(content), CHUNK):
        part = np.frombuffer(
            content[begin : begin + CHUNK + 1], np.uint8
        )  # one more byte, to see what follows a newline
        quoted = np.flatnonzero(part[:CHUNK] == QUOTE)
        ends = np.flatnonzero((part[:-1] == NEWLINE) & (part[1:] == HASH))
        outside = (quotes + np.searchsorted(quoted, ends)) % 2 == 0
        yield from (begin + int(end) for end in ends[outside])
        quotes += len(quoted)


def _line(content: mmap.mmap, start: int) -> bytes:
    end = content.find(b"\n", start)
    return content[start : min(end if end >= 0 else len(content), start + LONGEST)]
