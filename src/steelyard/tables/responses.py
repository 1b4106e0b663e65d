"""Any source -> one long table with our names, by the layout it is written in."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from steelyard.foundation.errors import SettingError, SteelyardNote, SteelyardWarning
from steelyard.tables.how_answers_were_read import with_finish
from steelyard.tables.letter_case import in_our_case
from steelyard.tables.recognition import LAYOUTS, Layout
from steelyard.tables.renaming import Renamed, renamed
from steelyard.tables.several_files import joined, parted
from steelyard.tables.sources.bundled_grid import is_grid
from steelyard.tables.sources.opening import open_source

PLAIN = "long"  # what no other layout recognises, and what need not be said


class Unparted(NamedTuple):
    """The responses of a source; where they are of several files, a column still says of which."""

    frame: pl.LazyFrame
    paths: tuple[Path, ...]
    layout: Layout | None  # None for bundled responses
    told: str


def open_responses(source: Any, layout: str | None = None, rename: dict[str, str] | None = None) -> pl.LazyFrame:
    """Return the responses of a source as one long table, and say which layout it was read by.

    `layout` names one of `LAYOUTS`; without it each is asked whether it recognises the source, those that take any
    table last. `rename` gives columns our names: those of the file where the layout takes any table, else those that
    the layout makes.
    """
    found = open_unparted(source, layout, rename)
    frame, shared = parted(found.frame, found.paths)
    say_layout(found, shared)
    return frame


def say_layout(found: Unparted, more: str = "") -> None:
    """Say by which layout a source was read, and what was found."""
    if found.layout is None:
        return
    told = ", ".join(each for each in (found.told, more) if each)
    if told or found.layout.name != PLAIN:
        said = f"{found.layout.title}: {told}" if told else f"read as {found.layout.title}"
        warnings.warn(said, SteelyardNote, stacklevel=1)  # once, however often the file is read


def open_unparted(source: Any, layout: str | None = None, rename: dict[str, str] | None = None) -> Unparted:
    """Open a source as `open_responses` does, and leave it to the caller whether its files agree."""
    file, rename = open_source(source), rename or {}
    if is_grid(source):
        return Unparted(renamed(file.frame(), rename), (), None, "")
    found = None if layout is None else LAYOUTS.get(layout)()
    found = found or next((each for each in _asked(0) if each.recognises(file)), None)
    if found is None or found.turn:
        file = joined(file)
    if rename and (found is None or found.turn):
        columns = set(file.frame().collect_schema())
        file = Renamed(file, {old: new for old, new in rename.items() if old in columns})
        rename = {old: new for old, new in rename.items() if old not in columns}
    if found is None or found.turn:
        file = Renamed(file, in_our_case(file.frame().collect_schema()))
    found = found or next(each for each in _asked(1) if each.recognises(file))
    converted = found.read(file)
    return Unparted(with_finish(renamed(converted.frame, rename)), file.paths, found, converted.found)


def _asked(turn: int) -> list[Layout]:
    """The layouts of tools (0), or those that take any table (1)."""
    return [each for each in every_layout() if bool(each.turn) == bool(turn)]


def layouts() -> dict[str, str]:
    """Return what is read from each layout, by the name that `layout=` takes, in the order in which they are tried.

    >>> list(layouts())[-1]
    'long'
    """
    return {layout.name: layout.about for layout in every_layout()}


def every_layout() -> list[Layout]:
    """All layouts in the order in which they are asked."""
    every: list[Layout] = []
    for name in LAYOUTS.names:
        try:
            every.append(LAYOUTS.get(name)())
        except SettingError as error:  # of another package: it cannot be asked, and the table may be no concern of it
            warnings.warn(str(error), SteelyardWarning, stacklevel=4)
    return sorted(every, key=lambda each: each.turn)
