"""Which tables Steelyard wrote, and of which kind.

A Parquet file has a mark among its key-value metadata: `steelyard` and the kind. CSV, JSON lines and Arrow as polars
writes them have no room for one: there a table is known by its columns, which must be exactly those that are written.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from steelyard.foundation.outputs import Kind
from steelyard.foundation.panics import hidden_panics
from steelyard.tables.sources.damage import DAMAGE
from steelyard.tables.sources.width import LONGEST_LINE

KEY = "steelyard"
SUFFIXES = (".parquet", ".jsonl", ".ndjson", ".csv", ".arrow")


@dataclass(frozen=True)
class TableKind:
    """A kind of table: `columns` are those it has, `perhaps` those it may have besides; None = any."""

    name: str
    what: str
    columns: frozenset[str]
    perhaps: frozenset[str] | None = frozenset()

    def has(self, columns: Collection[str]) -> bool:
        """Whether these are columns of such a table."""
        beyond = set(columns) - self.columns
        return self.columns <= set(columns) and (self.perhaps is None or beyond <= self.perhaps)

    def kind(self) -> Kind:
        """The kind of file, for the rule of outputs."""
        return Kind(self.what, SUFFIXES, self.wrote)

    def wrote(self, path: Path) -> bool:
        """Whether Steelyard wrote such a table to a file."""
        if path.suffix.lower() == ".parquet":
            return mark_in(path) == self.name
        columns = columns_in(path)
        return columns is not None and self.has(columns)


DECIDED = ("question", "answer", "confidence", "share", "margin", "votes", "responses")
VERDICTS = TableKind("verdicts", "a table of verdicts", frozenset(DECIDED), frozenset({"answered"}))
ANSWERS = TableKind("answers", "a table of answers", frozenset({"question", "answer", "same_as", "undecided"}), None)
SIMULATED = TableKind(
    "simulated", "a table of simulated responses", frozenset({"question", "sample", "answer", "correct", "score"})
)
NAMED = (VERDICTS, ANSWERS, SIMULATED)


def kind_of(columns: Sequence[str]) -> str:
    """The name of the kind of a table, which becomes its mark.

    >>> kind_of(DECIDED), kind_of(["question", "response"])
    ('verdicts', 'table')
    """
    return next((kind.name for kind in NAMED if kind.has(columns)), "table")


def any_table(columns: Sequence[str] | None = None) -> Kind:
    """A table of whatever kind, for a user's own call: any that Steelyard wrote, or one with exactly these columns."""

    def wrote(path: Path) -> bool:
        if path.suffix.lower() == ".parquet":
            return mark_in(path) is not None
        return columns is not None and columns_in(path) == list(columns)

    return Kind("a table", SUFFIXES, wrote)


def mark_in(path: Path) -> str | None:
    """The kind that a Parquet file was marked with."""
    try:
        with hidden_panics():
            return pl.read_parquet_metadata(path).get(KEY)
    except DAMAGE:
        return None


def columns_in(path: Path) -> list[str] | None:
    """The columns of a file without a mark, by its front; None if it is no such table."""
    try:
        if path.suffix.lower() == ".arrow":
            with hidden_panics():
                return list(pl.read_ipc_schema(path))
        with path.open("rb") as file:
            first = file.readline(LONGEST_LINE).decode()
        if path.suffix.lower() == ".csv":
            return next(csv.reader([first]), [])
        row = json.loads(first)
        return list(row) if isinstance(row, dict) else None
    except (*DAMAGE, ValueError, RecursionError, csv.Error):
        return None
