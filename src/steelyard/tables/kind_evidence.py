"""Evidence for the kind of answers in a table: golds, answers and responses from a bounded number of rows.

Runs of `generate` and feedback folders record their kind, which is used for their tables.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.answers.auto_kind import Evidence, KindChoice
from steelyard.answers.extract import AUTO
from steelyard.answers.golds import ITEM, LIST
from steelyard.foundation.errors import RunError
from steelyard.runs.derived_table import FILE as TABLE
from steelyard.runs.feedback_folder import is_feedback, read_settings
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.manifest import Manifest
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.parts import is_parted_run

GOLD_ROWS = 100_000  # rows whose golds are inspected
GOLDS = 2_000  # of different questions
TEXT_ROWS = 4_000  # rows of which some answers or responses are inspected
TEXTS = 500


def evidence_of(table: Any, frame: pl.LazyFrame) -> Evidence | KindChoice:
    """Return what decides the kind of answers in a table with standard column names."""
    return kind_of_run(table) or evidence_in(frame)


def evidence_in(frame: pl.LazyFrame) -> Evidence:
    """Return the golds of a table, one per question, and functions that load some of its answers or responses."""
    schema = pl.Schema({name: kind for name, kind in frame.collect_schema().items() if _is_text(name, kind)})
    golds: list[str] = []
    if "gold" in schema:
        columns = [text_expression(name, schema[name]) for name in ("question", "gold") if name in schema]
        rows = frame.select(columns).head(GOLD_ROWS).collect().drop_nulls("gold")
        unique = rows.unique("question", keep="first", maintain_order=True) if "question" in schema else rows
        golds = unique["gold"].head(GOLDS).to_list()

    def texts(name: str) -> list[str]:
        column = frame.select(text_expression(name, schema[name])).head(TEXT_ROWS).collect()[name].drop_nulls()
        return column.gather_every(max(1, len(column) // TEXTS)).head(TEXTS).to_list()

    if "answer" in schema:
        return Evidence(golds, answers=lambda: texts("answer"))
    return Evidence(golds, responses=(lambda: texts("response")) if "response" in schema else None)


def _is_text(name: str, kind: pl.DataType) -> bool:
    """Whether a column contains one text or number per row; golds may be lists of them."""
    if name == "gold" and isinstance(kind, pl.List | pl.Array):
        return not kind.inner.is_nested()
    return not kind.is_nested() and kind != pl.Object


def text_expression(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a column as text; a list of accepted gold answers becomes one text."""
    if isinstance(kind, pl.List | pl.Array):
        items = pl.col(name).cast(pl.List(pl.String)).list.drop_nulls()
        texts = items.list.join(ITEM)
        blank = (texts == "") & (
            items.list.len() > 0
        )  # a list of one empty text accepts it; an empty list accepts nothing
        return (pl.lit(LIST) + pl.when(blank).then(pl.lit(ITEM)).otherwise(texts)).alias(name)
    return pl.col(name) if kind == pl.String else pl.col(name).cast(pl.String)


def kind_of_run(table: Any) -> KindChoice | None:
    """Return the kind of answers recorded by a run of `generate` or a feedback folder; None for anything else."""
    tables = table if isinstance(table, list | tuple) else [table]
    for path in (Path(source) for source in tables if isinstance(source, str | Path)):
        folder = path.parent if path.name == TABLE else path
        with suppress(RunError, OSError, ValueError):
            if is_feedback(folder) and (kind := read_settings(folder).answers) != AUTO:
                return KindChoice(kind, f"{folder} contains feedback on this kind")
            parted = is_parted_run(folder)
            if not parted and not (folder / MANIFEST).is_file():
                continue
            manifest = PartedRun.read(folder).manifest if parted else Manifest.read(folder)
            if manifest.rows is None:
                return KindChoice(manifest.answers, f"{folder} was generated with this kind")
    return None
