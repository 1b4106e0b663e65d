"""Any source -> one long table with our names, by the layout it is written in."""

from __future__ import annotations

import warnings
from typing import Any

import polars as pl

from steelyard.errors import SteelyardNote
from steelyard.tables.recognition import LAYOUTS, Converted, Layout, Opened
from steelyard.tables.sources.bundled_grid import is_grid
from steelyard.tables.sources.opening import opened


def open_responses(source: Any, layout: str | None = None) -> pl.LazyFrame:
    """Return the responses of a source as one long table, and say which layout it was read by.

    `layout` names one of `LAYOUTS`; without it each is asked whether it recognises the source, and what none
    recognises is read as the long table that it is.
    """
    file = opened(source)
    if is_grid(source):
        return file.frame()
    found = layout_of(file) if layout is None else LAYOUTS.get(layout)()
    if found is None:
        return file.frame()
    converted = found.read(file)
    warnings.warn(_said(found, converted), SteelyardNote, stacklevel=3)
    return converted.frame


def layout_of(file: Opened) -> Layout | None:
    """The first layout that recognises a source, in the order of their names; None for a long table of ours."""
    return next((layout for name in LAYOUTS.names if (layout := LAYOUTS.get(name)()).recognises(file)), None)


def _said(layout: Layout, converted: Converted) -> str:
    return f"{layout.title}: {converted.found}" if converted.found else f"read as {layout.title}"
