"""What other libraries raise over a damaged file, and their message in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from steelyard.errors import TableError
from steelyard.panics import unprinted
from steelyard.stores.secrets import without_secrets

DAMAGE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


@contextmanager
def reading(name: object) -> Iterator[None]:
    """Read a table in this block; what cannot be read is one line."""
    try:
        with unprinted():
            yield
    except DAMAGE as error:
        raise TableError(f"{name} cannot be read: {first_line(error)}; write the file again") from None


def first_line(error: BaseException) -> str:
    """Return the first line of another library's message, short enough to read."""
    text = str(error).strip() or type(error).__name__
    return without_secrets(text.splitlines()[0])[:200]
