"""What the readers of every file format share: one-line errors for damaged files, encodings, and limits on width."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import SteelyardError, TableError, nearest
from steelyard.foundation.files import UnwritableError
from steelyard.foundation.masking import mask_addresses, without_secrets
from steelyard.foundation.panics import hidden_panics
from steelyard.tables.sources.unpacking import STDIN, STDIN_NAME

DAMAGE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
FIXES = {  # by a part of the polars message
    "invalid utf-8": "its text is not UTF-8: save it as 'CSV UTF-8', or convert it, with: "
    "iconv -f WINDOWS-1252 -t UTF-8 {name} > utf8.csv",
    "InvalidFooter": "it has no footer, like an Arrow stream: write it as a file (write_ipc, not write_ipc_stream)",
    "found more fields": "a row has more cells than the header: quote cells that contain the separator",
    'could not parse `"': "a quote is not closed: close it, or double the quotes inside a cell",
}
MARKS = (b"\xff\xfe", b"\xfe\xff")
WIDE_MARKS = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")  # UTF-32
MAX_COLUMNS = 5000
MOST_NAMES = 10_000  # of a folder among which a misspelled one is looked for
LONGEST_LINE = 64 << 20  # bytes of JSON, twice the limit on a server's reply
TEXT = {"question": pl.String, "answer": pl.String, "gold": pl.String, "response": pl.String, "prompt": pl.String}


@contextmanager
def name_in_errors(source: Any) -> Iterator[str]:
    """Yield the name of a table, and add it to every error raised in this block."""
    files = source if isinstance(source, list | tuple) else [source]
    name = str(files[0]) if files and isinstance(files[0], str | Path) else "the table"
    name += f" and {len(files) - 1} more" if len(files) > 1 and name != "the table" else ""
    name = STDIN_NAME if name == STDIN else mask_addresses(name)
    try:
        yield name
    except UnwritableError:
        raise  # it is about the output
    except SteelyardError as error:
        raise error if name in str(error) else type(error)(f"{name}: {error}") from None


@contextmanager
def reading(name: object) -> Iterator[None]:
    """Turn the errors of damaged files in this block into a TableError of one line."""
    try:
        with hidden_panics():
            yield
    except DAMAGE as error:
        raise TableError(f"{name} cannot be read: {with_fix(error, name)}") from None


def with_fix(error: BaseException, name: object) -> str:
    """Return what is wrong with a file and how to fix it, from another library's message."""
    line = first_line(error)
    return next(
        (fix.replace("{name}", str(name)) for fragment, fix in FIXES.items() if fragment in line),
        f"{line}; write the file again",
    )


def first_line(error: BaseException) -> str:
    """Return the first line of another library's message, short enough to read."""
    text = str(error).strip() or type(error).__name__
    return without_secrets(text.splitlines()[0])[:200]


def check_utf8(path: Path) -> None:
    """Refuse a UTF-16 or UTF-32 file, with or without a byte order mark, and say how to convert it."""
    with path.open("rb") as file:
        start = file.read(64)
    if start.startswith((*MARKS, *WIDE_MARKS)) or start[1::2].count(0) > 8 or start[::2].count(0) > 8:
        name = "UTF-32" if start.startswith(WIDE_MARKS) else "UTF-16"
        raise TableError(
            f"{path} is encoded in {name}, and tables must be UTF-8: save it as UTF-8 "
            f"(in Excel 'CSV UTF-8'), or run: iconv -f {name} -t UTF-8 {path} > utf8{path.suffix}"
        )


def check_width(path: Path, columns: int) -> None:
    """Refuse a table that is too wide."""
    if columns > MAX_COLUMNS:
        raise TableError(f"{path} has {columns:,} columns, more than {MAX_COLUMNS:,}: keep only those you need")


def no_such_file(path: Path) -> str:
    """Describe a path that does not exist: the folder that is missing, or the file that was meant."""
    folder = path.parent
    if not folder.is_dir():
        return f"no such file: {path}; there is no folder {folder}"
    with suppress(OSError):
        near = nearest(path.name, (entry.name for entry in islice(folder.iterdir(), MOST_NAMES)))
        if near:
            return f"no such file: {path}; did you mean {folder / near}?"
    return f"no such file: {path}; correct the path, which starts at {Path.cwd() if not path.is_absolute() else '/'}"


class PartialReadError(TableError):
    """A table yields fewer or other rows than before."""


def partial_read() -> PartialReadError:
    """Return the error for a table that yields fewer or other rows than before."""
    return PartialReadError(
        "the table was only read in part: reading was interrupted, or the table changed; run it again"
    )
