"""Any source -> an `Opened` for the layouts, or a frame with its columns as they are."""

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
from steelyard.tables.sources.listing import files_of_all
from steelyard.tables.sources.opened_files import OpenedFile, OpenedFiles
from steelyard.tables.sources.opened_parts import OpenedParts
from steelyard.tables.sources.opened_tables import OpenedTable
from steelyard.tables.sources.parted_sources import is_parted_source
from steelyard.tables.sources.remote_tables import RemoteTable


def open_source(source: Any) -> Opened:
    """Open files, standard input, bundled responses or a table in memory without reading it."""
    if is_grid(source):
        return OpenedTable(open_grid(str(source)))
    sources = [source] if isinstance(source, str | Path) else source
    addresses = [entry for entry in sources if address_of(entry)] if isinstance(sources, list | tuple) else []
    if addresses and len(sources) > 1:
        raise TableError(
            f"{addresses[0]} cannot be combined with other sources: pass it alone, with a pattern (*) for several files"
        )
    if isinstance(sources, list | tuple) and len(sources) == 1 and _is_parted(sources[0]):
        return OpenedParts(place_of(sources[0]))
    if addresses:
        return RemoteTable(str(address_of(addresses[0])), FILE)
    if isinstance(sources, list | tuple) and sources and all(isinstance(entry, str | Path) for entry in sources):
        grid = [str(entry) for entry in sources if is_grid(entry)]
        if grid:
            raise TableError(f"{grid[0]} cannot be combined with other sources: pass it alone")
        files = tuple(OpenedFile(path) for path in files_of_all(sources))
        return files[0] if len(files) == 1 else OpenedFiles(files)
    return OpenedTable(source)


def _is_parted(source: Any) -> bool:
    try:
        return isinstance(source, str | Path) and is_parted_source(source)
    except (OSError, ValueError):  # invalid paths are reported when the files are listed
        return False


def open_table(source: Any) -> pl.LazyFrame:
    """Return a lazy frame over a source with its columns as they are."""
    return open_source(source).frame()
