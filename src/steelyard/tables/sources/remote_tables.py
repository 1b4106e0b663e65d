"""Parquet files on object stores, opened by polars itself: s3://bucket/responses/*.parquet."""

from __future__ import annotations

import re
from functools import cached_property
from glob import has_magic
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import TableError
from steelyard.files import SCHEMES
from steelyard.tables.sources.opened_tables import OpenedTable

ADDRESS = re.compile(r"([a-z]\w*):/+(.+)", re.DOTALL)
SUFFIXES = (".parquet", ".pq")


def remote(source: Any) -> str | None:
    """The address of a table on an object store, also where it was taken for a path and lost a slash; else None.

    >>> remote("s3://bucket/a.parquet"), remote(Path("s3://bucket/a.parquet")), remote("a.parquet")
    ('s3://bucket/a.parquet', 's3://bucket/a.parquet', None)
    >>> remote("file:///data/a.parquet")
    'file:///data/a.parquet'
    """
    found = ADDRESS.fullmatch(str(source)) if isinstance(source, str | Path) else None
    if not found or found[1] not in SCHEMES:
        return None
    return f"{found[1]}://{'/' if found[1] == 'file' else ''}{found[2]}"


class RemoteTable(OpenedTable):
    """One file, or all that match a pattern; nothing of them is kept here. `marked` names a column for their names."""

    def __init__(self, address: str, marked: str) -> None:
        super().__init__(address)
        self.marked = marked if has_magic(address) else None
        if not address.lower().endswith(SUFFIXES):
            raise TableError(f"{address} is not Parquet, and of object stores only that is read: copy it here first")

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.source, include_file_paths=self.marked)
