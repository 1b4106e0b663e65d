"""The labelled questions of a folder of parts: what is fitted on, however many others there are."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import SteelyardNote
from steelyard.tables.reading import named
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.damage import reading
from steelyard.tables.sources.parted_sources import is_parted_source

LABELS = ("correct", "gold")


def labelled_questions(source: Any, *, layout: str | None = None, rename: dict[str, str] | None = None) -> Any:
    """Return the rows of those questions of a folder of parts that have a label; anything else as it is.

    Memory is that of these rows. A question counts as labelled if one of its responses is, so that one whose labels
    are incomplete is refused by whoever reads the rows.
    """
    if not (isinstance(source, str | Path) and is_parted_source(source)):
        return source
    with named(source) as name, reading(name):
        frame = open_responses(source, layout, rename)
        schema = frame.collect_schema()
        label = next((name for name in LABELS if name in schema), None)
        if label is None or "question" not in schema:
            return source
        marked = frame.group_by("question").agg(pl.col(label).is_not_null().any())
        counts = marked.select(pl.len(), pl.col(label).sum()).collect(engine="streaming").row(0)
        if counts[0] == counts[1] or not counts[1]:
            return source
        ids = marked.filter(label).select("question").collect(engine="streaming")["question"]
        rows = frame.filter(pl.col("question").is_in(ids.implode())).collect(engine="streaming")
    told = f"{counts[1]:,} of the {counts[0]:,} questions of {name} have labels: these are read, and no others"
    warnings.warn(told, SteelyardNote, stacklevel=2)
    return rows
