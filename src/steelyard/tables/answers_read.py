"""Tables -> their answers: how each was read, and which are the same."""

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
from steelyard.tables.reading import name_in_errors
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
    """Read and group the answers of a table: `.table` has all its columns, `.rules` and `.merged` describe the answers.

    >>> import polars as pl, steelyard as sy
    >>> table = pl.DataFrame({"question": "a", "response": ["So it is 1/2.", "The answer is 0.5", "I do not know"]})
    >>> read = sy.read_answers(table)
    >>> read.table["answer"].to_list(), read.merged["spellings"].to_list(), read.unreadable
    (['1/2', '0.5', None], [['1/2', '0.5']], 1)
    """
    reader = AnswerReader(answers)
    try:
        with name_in_errors(source) as name, reading(name):
            table = open_responses(source, layout, rename).collect()
            check_columns(table.schema)
            if not table.height:
                raise TableError(f"{name} is empty: it has no rows to read")
            reader.look(lambda: evidence_of(source, table.lazy()))
            settle_placeholders(table.lazy(), reader)
            return annotated.read_answers(table, reader, progress)
    finally:
        reader.close()
