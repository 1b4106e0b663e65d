"""Long tables -> the answers in them: how each was read, and which are the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.answers import annotated
from steelyard.answers.annotated import Reading
from steelyard.answers.extract import AUTO
from steelyard.answers.reader import AnswerReader
from steelyard.errors import TableError
from steelyard.files import address_of
from steelyard.tables.columns import check_columns
from steelyard.tables.kind_evidence import evidence_of
from steelyard.tables.placeholder_answers import settle_placeholders
from steelyard.tables.reading import named
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.bundled_grid import is_grid
from steelyard.tables.sources.damage import reading
from steelyard.tables.sources.listing import all_listed
from steelyard.tables.sources.unpacking import LARGEST, LARGEST_RATIO, STDIN

TEXTS = ("response", "answer")


def _check_size(frame: pl.LazyFrame, source: Any) -> None:
    """Refuse files whose texts are far larger than they: Parquet stores a text once however many rows have it."""
    named = [source] if isinstance(source, str | Path) else source
    if not isinstance(named, list | tuple) or not all(isinstance(each, str | Path) for each in named):
        return  # a table in memory
    if any(address_of(each) or is_grid(each) or str(each) == STDIN for each in named):
        return
    limit = max(LARGEST, LARGEST_RATIO * sum(path.stat().st_size for path in all_listed(named)))
    texts = [name for name in TEXTS if frame.collect_schema().get(name) == pl.String]
    sizes = [pl.col(name).str.len_bytes().cast(pl.UInt64).sum() for name in texts]
    if texts and sum(frame.select(sizes).collect(engine="streaming").row(0)) > limit:
        raise TableError(
            f"its texts take more than {limit >> 20:,} MB, many times its size: read a part of it or, if you "
            "trust it, write it as .jsonl"
        )


def read_answers(
    source: Any,
    *,
    answers: str = AUTO,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Reading:
    """Read and group the answers of a table, keeping all its columns: `.table`, with `.rules` and `.merged` about it.

    >>> import polars as pl, steelyard as sy
    >>> table = pl.DataFrame({"question": "a", "response": ["So it is 1/2.", "The answer is 0.5", "I do not know"]})
    >>> found = sy.read_answers(table)
    >>> found.table["answer"].to_list(), found.merged["spellings"].to_list(), found.unreadable
    (['1/2', '0.5', None], [['1/2', '0.5']], 1)
    """
    reader = AnswerReader(answers)
    try:
        with named(source) as name, reading(name):
            frame = open_responses(source, layout, rename)
            check_columns(frame.collect_schema())
            _check_size(frame, source)
            table = frame.collect()
            if not table.height:
                raise TableError(f"{name} is empty: it has no rows to read")
            reader.look(lambda: evidence_of(source, table.lazy()))
            settle_placeholders(table.lazy(), reader)
            return annotated.read_answers(table, reader, progress)
    finally:
        reader.close()
