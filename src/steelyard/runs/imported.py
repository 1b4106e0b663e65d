"""A run made from a table instead of by `generate`: its samples are the rows of the table, with all columns.

The manifest stores the number of rows and the kinds of their columns under `params.imported`; each journal record
stores a row. The derived table has the columns of the original table plus those of the verifiers.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from steelyard.foundation.errors import RunError
from steelyard.runs.index import NUMBER, WIDE, Index
from steelyard.runs.manifest import IMPORTED, Manifest

KINDS: dict[str, pl.DataType] = {
    "text": pl.String(),
    "true or false": pl.Boolean(),
    "whole number": pl.Int64(),
    "number": pl.Float64(),
    "list of numbers": pl.List(pl.Float64()),
    "list of texts": pl.List(pl.String()),
}
OF_QUESTIONS = "prompt"  # stored in questions.parquet: it is long, and the same for all samples


def kind_of(dtype: pl.DataType) -> str | None:
    """Return the kind under which a column is stored, or None if it cannot be.

    >>> kind_of(pl.Float32()), kind_of(pl.List(pl.Int8())), kind_of(pl.List(pl.String())), kind_of(pl.Struct([]))
    ('number', 'list of numbers', 'list of texts', None)
    """
    if isinstance(dtype, pl.List | pl.Array):
        inner = pl.DataType.from_python(dtype.inner) if isinstance(dtype.inner, type) else dtype.inner
        return "list of numbers" if inner.is_numeric() else "list of texts" if inner == pl.String else None
    if dtype.is_numeric():
        return "whole number" if dtype.is_integer() else "number"
    if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        return "text"
    return "true or false" if dtype == pl.Boolean else None


def columns_of(manifest: Manifest) -> dict[str, pl.DataType]:
    """Return the columns of the table that a run was made from."""
    try:
        return {str(name): KINDS[kind] for name, kind in manifest.params[IMPORTED]["columns"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise RunError(
            f"manifest.json is damaged (params.{IMPORTED}: {error}): restore it, or start another run"
        ) from None


def imported_lists(manifest: Manifest) -> dict[str, int]:
    """Return the row count of each imported list column: a table without a seal counts such lists as scores."""
    if manifest.rows is None:
        return {}
    lists = [name for name, dtype in columns_of(manifest).items() if dtype == KINDS["list of numbers"]]
    return {f"scores of {name}": manifest.rows for name in lists}


class ImportedMaker:
    """Builds the rows of complete questions from their records, as they were in the imported table."""

    def __init__(self, questions: pl.DataFrame, manifest: Manifest, index: Index) -> None:
        self.questions = questions
        self.index = index
        self.columns = columns_of(manifest)
        self.schema = pl.Schema({"question": pl.String(), "sample": pl.Int64()} | self.columns | index.score_types)

    def batch(self, file: Any, part: slice) -> pl.DataFrame:
        """The rows of one part of the index."""
        question_index = self.index.keys[part] >> WIDE
        records = self.index.rows(file, part)
        columns: dict[str, Any] = {
            "question": self.questions["question"].gather(question_index),
            "sample": self.index.keys[part] & NUMBER,
        }
        for name in self.columns:
            columns[name] = [_cell(record, name) for record in records]
        if OF_QUESTIONS in self.columns:
            columns[OF_QUESTIONS] = self.questions[OF_QUESTIONS].gather(question_index)
        columns |= self.index.score_columns(file, part, records)
        return pl.DataFrame({name: columns[name] for name in self.schema}, schema=self.schema, strict=False)

    def close(self) -> None:
        """Nothing to close."""


def _cell(record: dict[str, Any], name: str) -> Any:
    """The value of a row in a column."""
    if name == "response":
        return record.get("response")
    row = record.get("row")
    return row.get(name) if isinstance(row, dict) else None
