"""The user's renames of columns, applied before the columns are interpreted."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property

import polars as pl

from steelyard.foundation.errors import ColumnError, SteelyardWarning, did_you_mean
from steelyard.runs.on_demand import asked_column
from steelyard.tables.recognition import Opened, Record


def renamed(frame: pl.LazyFrame, rename: dict[str, str]) -> pl.LazyFrame:
    """Rename columns; a column that already has the new name is dropped."""
    names = frame.collect_schema().names()
    for old in rename:
        if old not in names:
            raise ColumnError(f"cannot rename {old!r}, there is no such column: {did_you_mean(old, names)}")
    replaced = [new for new in rename.values() if new in names and new not in rename]
    if replaced:
        warnings.warn(f"renaming replaces the columns {', '.join(replaced)}", SteelyardWarning, stacklevel=2)
    asked_columns = {asked_column(old): asked_column(new) for old, new in rename.items() if asked_column(old) in names}
    return frame.drop(replaced).rename(asked_columns | rename)


class Renamed(Opened):
    """An opened table with renamed columns."""

    def __init__(self, opened: Opened, rename: dict[str, str]) -> None:
        self.opened, self.rename, self.paths = opened, rename, opened.paths

    @cached_property
    def first(self) -> Record:
        return {self.rename.get(name, name): value for name, value in self.opened.first.items()}

    def records(self) -> Iterator[Record]:
        for record in self.opened.records():
            yield {self.rename.get(name, name): value for name, value in record.items()}

    def frame(self) -> pl.LazyFrame:
        return self._frame

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        return renamed(self.opened.frame(), self.rename)
