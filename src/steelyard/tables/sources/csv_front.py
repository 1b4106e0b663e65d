"""Lines before the header of a CSV file: comments (# ..), Excel's `sep=;` and blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from steelyard.foundation.errors import TableError
from steelyard.tables.names import is_text, key
from steelyard.tables.sources.file_checks import LONGEST_LINE

BOM = b"\xef\xbb\xbf"
SEPARATORS = (",", ";", "\t", "|")
MAX_LINES = 1_000  # before the header
_QUOTED = re.compile(rb'"[^"]*"')
_EXCEL = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # as Excel reads and writes it


class Front(NamedTuple):
    """The number of lines before the header, its separator and its number of columns."""

    skipped: int
    separator: str
    columns: int


def front_of(path: Path) -> Front:
    """Inspect the first lines; a file with only comments and blank lines is refused as empty."""
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
        """Whether it contains the name of a known column."""
        return any(is_text(key(name.strip(' "'))) for name in re.split(r"[,;\t|]", self.text.lstrip("# ")))


def _first_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for _ in range(MAX_LINES):
            line = file.readline(LONGEST_LINE)
            if not line:
                return
            if b"\r" in _QUOTED.sub(b"", line.rstrip(b"\r\n")):
                raise TableError(
                    f"{path} has CR-only line endings: convert it, with: tr '\\r' '\\n' < {path} > lines{path.suffix}"
                )
            yield line
    raise TableError(f"{path} has {MAX_LINES:,} or more comment lines before its header: remove them")


def _header(path: Path, comment: Line, line: Line) -> Line:
    """Return the header line; a column may be called `#`, but names after a `#` are a comment."""
    if not comment.text or line.has_names or not comment.has_names:
        return line
    if comment.text[1:2] in SEPARATORS:
        return comment
    raise TableError(f"{path}, line {comment.number + 1} has a '#' before the column names: remove it")


def _check_rows(path: Path, header: Line) -> None:
    with path.open("rb") as file:
        if not any(line.strip() for line in islice(file, header.number + 1, None)):
            raise TableError(f"{path} is empty: it has a header but no rows")


def _separated(line: Line, separator: str | None) -> tuple[str, int]:
    """Return the separator of a header and its number of columns."""
    bare = _QUOTED.sub(b"", line.content)
    chosen = separator or max(SEPARATORS, key=lambda candidate: bare.count(candidate.encode()))
    return chosen, 1 + bare.count(chosen.encode())
