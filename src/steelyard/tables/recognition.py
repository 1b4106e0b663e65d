"""The interface of layouts: `Opened` is a source to be recognised, `Layout` recognises and reads it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from steelyard.foundation.registry import Registry, named_class, only_class

Record = dict[str, Any]  # one line, row or sample as the tool wrote it


class Opened(ABC):
    """One file (or several), opened for the layouts to recognise. Everything is loaded lazily."""

    paths: tuple[Path, ...]  # () for a table in memory or standard input

    @cached_property
    @abstractmethod
    def first(self) -> Record:
        """The first record, {} if it cannot be read: recognition uses this and never the full file."""

    @abstractmethod
    def records(self) -> Iterator[Record]:
        """Yield all records as Python objects, in order, for layouts that are too nested for columns."""

    @cached_property
    @abstractmethod
    def _frame(self) -> pl.LazyFrame:
        """The records as columns."""

    def frame(self) -> pl.LazyFrame:
        """Return the records as columns, for layouts that are flat and may be large."""
        return self._frame

    def parts(self) -> Iterator[Opened]:
        """Yield the files one by one, for layouts in which the file name matters."""
        yield self


@dataclass(frozen=True)
class Converted:
    """A table with the standard columns of docs/table.md (question, sample, response, answer, gold, ..)."""

    frame: pl.LazyFrame
    summary: str  # "1,319 questions, 8 repeats, filter strict-match", or "" if counting would read the full table


class Layout(ABC):
    """A format in which a tool writes responses."""

    name: ClassVar[str]  # as the user types it
    title: ClassVar[str]  # in messages: "lm-eval samples"
    description: ClassVar[str]  # one line for `steelyard layouts`: the tool, its files, and the fields that are read
    turn: ClassVar[int] = 0  # layouts of tools (0) are tried first, those that accept any table last

    @abstractmethod
    def recognises(self, opened: Opened) -> bool:
        """Whether a file has this layout, by its name, suffix and first record; False if in doubt."""

    @abstractmethod
    def read(self, opened: Opened) -> Converted:
        """Convert it to a table with standard columns, or raise TableError with the fix."""


LAYOUTS: Registry[type[Layout]] = Registry(
    "layout",
    "steelyard.tables.layouts",
    Path(__file__).parent / "layouts",
    only_class(Layout),  # type: ignore[type-abstract]
    group="steelyard.layouts",
    check=named_class(Layout),
)
