"""What may stand before the header of separated values: comments (# ..), Excel's `sep=;`, blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from steelyard.foundation.errors import TableError
from steelyard.tables.names import is_text, key
from steelyard.tables.sources.width import LONGEST_LINE

BOM = b"\xef\xbb\xbf"
SEPARATORS = (",", ";", "\t", "|")
MOST_LINES = 1_000  # before the header
_QUOTED = re.compile(rb'"[^"]*"')
_EXCEL = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # as Excel reads and writes it


class Front(NamedTuple):
    """How many lines stand before the header, and what separates the names in it."""

    skipped: int
    separator: str
    columns: int


def front_of(path: Path) -> Front:
    """Look at the first lines; a file without any other line is empty."""
    separator: str | None = None
    comment = Line(-1, b"")
    for number, raw in enumerate(_first_lines(path)):
        line = Line(number, raw.removeprefix(BOM) if number == 0 else raw)
        excel = _EXCEL.fullmatch(line.text)
        if number == 0 and excel:
            separator = excel[1]
        elif line.text.startswith("#"):
            comment = line
        elif line.text:
            header = _header(path, comment, line)
            _check_rows(path, header)
            if path.suffix.lower() == ".tsv" and b"\t" in header.content:
                separator = "\t"
            return Front(header.number, *_separated(header, separator))
    raise TableError(f"{path} is empty: it has no rows to read")


class Line(NamedTuple):
    """A line with its number, counted from 0."""

    number: int
    content: bytes

    @property
    def text(self) -> str:
        return self.content.strip().decode(errors="replace")

    @property
    def has_names(self) -> bool:
        """Whether it names a column that is known."""
        return any(is_text(key(name.strip(' "'))) for name in re.split(r"[,;\t|]", self.text.lstrip("# ")))


def _first_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for _ in range(MOST_LINES):
            line = file.readline(LONGEST_LINE)
            if not line:
                return
            if b"\r" in _QUOTED.sub(b"", line.rstrip(b"\r\n")):
                raise TableError(
                    f"{path} ends its lines in CR alone: run: tr '\\r' '\\n' < {path} > lines{path.suffix}"
                )
            yield line
    raise TableError(f"{path} has {MOST_LINES:,} lines of comments or more before its header: remove them")


def _header(path: Path, comment: Line, line: Line) -> Line:
    """The line with the names; a column may be called `#`, but names behind a `#` are a comment."""
    if not comment.text or line.has_names or not comment.has_names:
        return line
    if comment.text[1:2] in SEPARATORS:
        return comment
    raise TableError(f"{path}, line {comment.number + 1} has '#' before the names of the columns: remove it")


def _check_rows(path: Path, header: Line) -> None:
    with path.open("rb") as file:
        if not any(line.strip() for line in islice(file, header.number + 1, None)):
            raise TableError(f"{path} is empty: it has the names of columns, and no rows")


def _separated(line: Line, separator: str | None) -> tuple[str, int]:
    """What separates the names in a header, and how many there are."""
    bare = _QUOTED.sub(b"", line.content)
    chosen = separator or max(SEPARATORS, key=lambda each: bare.count(each.encode()))
    return chosen, 1 + bare.count(chosen.encode())
