"""Long tables -> the answers in them: how each was read, and which are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steelyard.answers import annotated
from steelyard.answers.annotated import Reading
from steelyard.answers.extract import AUTO
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.errors import TableError
from steelyard.tables.columns import check_columns
from steelyard.tables.kind_evidence import evidence_of
from steelyard.tables.placeholder_answers import settle_placeholders
from steelyard.tables.reading import named
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.damage import reading


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
            table = open_responses(source, layout, rename).collect()
            check_columns(table.schema)
            if not table.height:
                raise TableError(f"{name} is empty: it has no rows to read")
            reader.look(lambda: evidence_of(source, table.lazy()))
            settle_placeholders(table.lazy(), reader)
            return annotated.read_answers(table, reader, progress)
    finally:
        reader.close()
