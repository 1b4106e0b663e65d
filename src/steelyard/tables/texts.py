"""The texts of a table: prompts, responses, domains and gold answers, in the row order of `read`."""

from __future__ import annotations

from typing import Any

import polars as pl

from steelyard.tables.responses import open_responses
from steelyard.tables.row_order import group_questions
from steelyard.tables.sources.bundled_grid import PREFIX, grid_texts, is_grid
from steelyard.tables.sources.damage import reading

COLUMNS = ("prompt", "response", "domain", "gold")


def texts_of(source: Any, *, rename: dict[str, str] | None = None, layout: str | None = None) -> pl.DataFrame:
    """Return `question` and those of prompt, response, domain and gold that exist, one row per response of the pool.

    >>> list(texts_of("grid:smol-misled").columns)
    ['question', 'prompt', 'response', 'domain', 'gold']
    """
    with reading(source):
        frame = open_responses(source, layout, rename)
        schema = frame.collect_schema()
        if is_grid(source):
            responses = grid_texts(str(source).removeprefix(PREFIX).partition("/")[0])
            frame = frame.join(responses.lazy(), on=["question", "sample"], how="left", maintain_order="left")
            schema = frame.collect_schema()
        names = [name for name in COLUMNS if name in schema and (name == "gold" or not schema[name].is_nested())]
        order = ["sample"] if "sample" in schema else []
        columns = [_text(name, schema[name]) for name in ("question", *names)]
        return group_questions(frame.select(*columns, *order)).select("question", *names).collect()


def _text(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a column as text; accepted answers are joined with "or"."""
    if isinstance(kind, pl.List | pl.Array):
        return pl.col(name).cast(pl.List(pl.String)).list.join(" or ", ignore_nulls=True)
    return pl.col(name).cast(pl.String)
