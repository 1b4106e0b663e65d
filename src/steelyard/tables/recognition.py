"""What a file is before its rows have a meaning, and what a layout is: it recognises files and reads them."""

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
    """One file (or several of one kind), opened but not understood. Nothing is read before it is asked for."""

    paths: tuple[Path, ...]  # () for a table in memory or standard input

    @cached_property
    @abstractmethod
    def first(self) -> Record:
        """The first record, {} if there is none that can be read: recognition looks at this, never at a whole file."""

    @abstractmethod
    def records(self) -> Iterator[Record]:
        """Every record as Python objects, in order, for layouts that are too nested for columns."""

    @abstractmethod
    def frame(self) -> pl.LazyFrame:
        """The same as columns, for layouts that are flat enough and may be large."""

    def parts(self) -> Iterator[Opened]:
        """The same file by file, for layouts in which the name of a file says something."""
        yield self


@dataclass(frozen=True)
class Converted:
    """A table with our names (question, sample, response, answer, gold, correct, prompt, llm, tokens, scores)."""

    frame: pl.LazyFrame
    found: str  # "1,319 questions, 8 repeats, filter strict-match", or "" where counting would mean reading all of it


class Layout(ABC):
    """One way of writing responses down."""

    name: ClassVar[str]  # as the user types it
    title: ClassVar[str]  # as it is said: "lm-eval samples"
    about: ClassVar[str]  # one line for `steelyard layouts`: the tool and its file, and what is read from where
    turn: ClassVar[int] = 0  # layouts of tools are asked first, those that take any table last

    @abstractmethod
    def recognises(self, opened: Opened) -> bool:
        """Whether a file is written so, by its name, its suffix and its first record; sure, or False."""

    @abstractmethod
    def read(self, opened: Opened) -> Converted:
        """Turn it into our table, or raise TableError with the fix."""


LAYOUTS: Registry[type[Layout]] = Registry(
    "layout",
    "steelyard.tables.layouts",
    Path(__file__).parent / "layouts",
    only_class(Layout),  # type: ignore[type-abstract]
    group="steelyard.layouts",
    check=named_class(Layout),
)
