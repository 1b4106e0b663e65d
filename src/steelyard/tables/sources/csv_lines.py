"""Broken lines in CSV files: comments between rows, NUL bytes, rows with too few cells, a truncated last line."""

from __future__ import annotations

import csv
import mmap
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from steelyard.foundation.errors import SteelyardWarning, TableError
from steelyard.tables.sources.csv_front import Front

LONGEST = 1 << 16  # bytes of a line to inspect
CHUNK = 1 << 24  # bytes to inspect at a time
NEWLINE, QUOTE, HASH = b'\n"#'


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
            number = _lines_before(content, start) + 2
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


def _lines_before(content: mmap.mmap, end: int) -> int:
    return sum(content[i : min(i + CHUNK, end)].count(b"\n") for i in range(0, end, CHUNK))
