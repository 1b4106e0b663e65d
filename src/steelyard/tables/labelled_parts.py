"""The labelled questions of a folder of parts, for fitting without loading the others."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import SteelyardNote
from steelyard.tables.reading import name_in_errors
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.damage import reading
from steelyard.tables.sources.parted_sources import is_parted_source

LABELS = ("correct", "gold")


def labelled_questions(source: Any, *, layout: str | None = None, rename: dict[str, str] | None = None) -> Any:
    """Return the rows of the labelled questions of a folder of parts; any other source is returned unchanged.

    Only these rows are loaded. A question counts as labelled if one of its responses is; incomplete labels are refused
    when the rows are read.
    """
    if not (isinstance(source, str | Path) and is_parted_source(source)):
        return source
    with name_in_errors(source) as name, reading(name):
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
    note = f"{counts[1]:,} of the {counts[0]:,} questions of {name} have labels: only these are read"
    warnings.warn(note, SteelyardNote, stacklevel=2)
    return rows
