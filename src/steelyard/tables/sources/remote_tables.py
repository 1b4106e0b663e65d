"""Parquet files on object stores, read by polars: s3://bucket/responses/*.parquet."""

from __future__ import annotations

from functools import cached_property
from glob import has_magic

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.foundation.stores.spelling import check_no_password
from steelyard.tables.sources.opened_tables import OpenedTable

SUFFIXES = (".parquet", ".pq")


class RemoteTable(OpenedTable):
    """One file, or all that match a pattern, without a local copy. `path_column` receives the paths of a pattern."""

    def __init__(self, address: str, path_column: str) -> None:
        check_no_password(address)
        super().__init__(address)
        self.path_column = path_column if has_magic(address) else None
        if not address.lower().endswith(SUFFIXES):
            raise TableError(
                f"{address} is neither Parquet nor a folder of parts, and nothing else is read "
                "from object stores: copy it here first"
            )

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.source, include_file_paths=self.path_column)
