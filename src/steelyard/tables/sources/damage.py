"""Errors that other libraries raise for damaged files, shortened to one line with a fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.foundation.panics import hidden_panics
from steelyard.foundation.stores.secrets import without_secrets

DAMAGE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
FIXES = {  # by a part of the polars message
    "invalid utf-8": "its text is not UTF-8: save it as 'CSV UTF-8', or convert it, with: "
    "iconv -f WINDOWS-1252 -t UTF-8 {name} > utf8.csv",
    "InvalidFooter": "it has no footer, like an Arrow stream: write it as a file (write_ipc, not write_ipc_stream)",
    "found more fields": "a row has more cells than the header: quote cells that contain the separator",
    'could not parse `"': "a quote is not closed: close it, or double the quotes inside a cell",
}


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
