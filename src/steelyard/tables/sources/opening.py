"""Any source -> what it is before its rows have a meaning, or the columns as they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.foundation.files import address_of
from steelyard.foundation.stores.address import place_of
from steelyard.tables.recognition import Opened
from steelyard.tables.several_files import FILE
from steelyard.tables.sources.bundled_grid import is_grid, open_grid
from steelyard.tables.sources.listing import all_listed
from steelyard.tables.sources.opened_files import OpenedFile, OpenedFiles
from steelyard.tables.sources.opened_parts import OpenedParts
from steelyard.tables.sources.opened_tables import OpenedTable
from steelyard.tables.sources.parted_sources import is_parted_source
from steelyard.tables.sources.remote_tables import RemoteTable


def opened(source: Any) -> Opened:
    """Open files, standard input, bundled responses or a table in memory; nothing is read yet."""
    if is_grid(source):
        return OpenedTable(open_grid(str(source)))
    named = [source] if isinstance(source, str | Path) else source
    addresses = [each for each in named if address_of(each)] if isinstance(named, list | tuple) else []
    if addresses and len(named) > 1:
        raise TableError(f"{addresses[0]} is a table of its own: give it alone, with a pattern (*) for several files")
    if isinstance(named, list | tuple) and len(named) == 1 and _is_parted(named[0]):
        return OpenedParts(place_of(named[0]))
    if addresses:
        return RemoteTable(str(address_of(addresses[0])), FILE)
    if isinstance(named, list | tuple) and named and all(isinstance(each, str | Path) for each in named):
        grid = [str(each) for each in named if is_grid(each)]
        if grid:
            raise TableError(f"{grid[0]} is a table of its own: give it alone")
        files = tuple(OpenedFile(path) for path in all_listed(named))
        return files[0] if len(files) == 1 else OpenedFiles(files)
    return OpenedTable(source)


def _is_parted(source: Any) -> bool:
    try:
        return isinstance(source, str | Path) and is_parted_source(source)
    except (OSError, ValueError):  # what cannot be a path is said by whoever lists it
        return False


def open_table(source: Any) -> pl.LazyFrame:
    """Return a lazy frame over a source with the columns that it has, whatever they mean."""
    return opened(source).frame()
