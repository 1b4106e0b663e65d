"""An opened folder of parts: its tables have the same columns and share no question, so they are one table."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import polars as pl

from steelyard.foundation.stores.address import Place
from steelyard.runs.parts import part_tables
from steelyard.tables.sources.opened_tables import OpenedTable


class OpenedParts(OpenedTable):
    """All parts, one after the other."""

    def __init__(self, folder: Place) -> None:
        super().__init__(folder)
        self.paths = (Path(str(folder)),)

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        manifest, paths = part_tables(self.source)
        filled = [str(path) for path, rows in zip(paths, manifest.rows, strict=True) if rows]
        return pl.scan_parquet(filled or str(paths[0]), glob=False)
