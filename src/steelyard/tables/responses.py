"""Any source -> one table with standard columns, after the user's renames, converted from its layout."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from steelyard.foundation.errors import ColumnError, SettingError, SteelyardNote, SteelyardWarning, did_you_mean
from steelyard.runs.scored_columns import scored_column
from steelyard.tables.columns import case_renames, with_finish
from steelyard.tables.layout_rows import join_notes
from steelyard.tables.recognition import LAYOUTS, Layout, Opened, Record
from steelyard.tables.several_files import joined, merge_files
from steelyard.tables.sources.bundled_grid import is_grid
from steelyard.tables.sources.opening import open_source

PLAIN = "long"  # recognised last, and not worth a note


class UncheckedResponses(NamedTuple):
    """The responses of a source before several files are checked against each other; a column has the file number."""

    frame: pl.LazyFrame
    paths: tuple[Path, ...]
    layout: Layout | None  # None for bundled responses
    summary: str


def open_responses(source: Any, layout: str | None = None, rename: dict[str, str] | None = None) -> pl.LazyFrame:
    """Return the responses of a source as one table, with a note on its layout.

    `layout` names one of `LAYOUTS`; without it, the first layout that recognises the source is used, those that accept
    any table last. `rename` applies to the columns of the file if the layout accepts any table, else to those that the
    layout makes.
    """
    responses = open_unchecked(source, layout, rename)
    frame, note = merge_files(responses.frame, responses.paths)
    report_layout(responses, note)
    return frame


def report_layout(responses: UncheckedResponses, note: str = "") -> None:
    """Issue a note with the layout of a source and the summary of its rows."""
    if responses.layout is None:
        return
    summary = join_notes(responses.summary, note)
    if summary or responses.layout.name != PLAIN:
        title = responses.layout.title
        message = f"{title}: {summary}" if summary else f"read as {title}"
        warnings.warn(message, SteelyardNote, stacklevel=1)  # once, however often the file is read


def open_unchecked(source: Any, layout: str | None = None, rename: dict[str, str] | None = None) -> UncheckedResponses:
    """Open a source like `open_responses`, without checking that its files agree."""
    file, rename = open_source(source), rename or {}
    if is_grid(source):
        return UncheckedResponses(renamed(file.frame(), rename), (), None, "")
    chosen = None if layout is None else LAYOUTS.get(layout)()
    chosen = chosen or next((tool for tool in _layouts(0) if tool.recognises(file)), None)
    if chosen is None or chosen.turn:
        file = joined(file)
    if rename and (chosen is None or chosen.turn):
        columns = set(file.frame().collect_schema())
        file = Renamed(file, {old: new for old, new in rename.items() if old in columns})
        rename = {old: new for old, new in rename.items() if old not in columns}
    if chosen is None or chosen.turn:
        file = Renamed(file, case_renames(file.frame().collect_schema()))
    chosen = chosen or next(plain for plain in _layouts(1) if plain.recognises(file))
    converted = chosen.read(file)
    return UncheckedResponses(with_finish(renamed(converted.frame, rename)), file.paths, chosen, converted.summary)


def _layouts(turn: int) -> list[Layout]:
    """Return the layouts of tools (0), or those that accept any table (1)."""
    return [layout for layout in every_layout() if bool(layout.turn) == bool(turn)]


def layouts() -> dict[str, str]:
    """Return what is read from each layout, by the name that `layout=` takes, in the order in which they are tried.

    >>> list(layouts())[-1]
    'long'
    """
    return {layout.name: layout.description for layout in every_layout()}


def every_layout() -> list[Layout]:
    """Return all layouts in the order in which they are tried."""
    loaded: list[Layout] = []
    for name in LAYOUTS.names:
        try:
            loaded.append(LAYOUTS.get(name)())
        except SettingError as error:  # from another package; the table may not need it
            warnings.warn(str(error), SteelyardWarning, stacklevel=4)
    return sorted(loaded, key=lambda layout: layout.turn)


def renamed(frame: pl.LazyFrame, rename: dict[str, str]) -> pl.LazyFrame:
    """Rename columns; a column that already has the new name is dropped."""
    names = frame.collect_schema().names()
    for old in rename:
        if old not in names:
            raise ColumnError(f"cannot rename {old!r}, there is no such column: {did_you_mean(old, names)}")
    replaced = [new for new in rename.values() if new in names and new not in rename]
    if replaced:
        warnings.warn(f"renaming replaces the columns {', '.join(replaced)}", SteelyardWarning, stacklevel=2)
    scored_columns = {
        scored_column(old): scored_column(new) for old, new in rename.items() if scored_column(old) in names
    }
    return frame.drop(replaced).rename(scored_columns | rename)


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

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        return renamed(self.opened.frame(), self.rename)
