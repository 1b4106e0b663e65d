"""Recognises tables that Steelyard wrote, and their kind.

A Parquet file has the key `steelyard` with the kind in its metadata. CSV, JSON lines and Arrow files written by polars
have no metadata: they are recognised by their columns, which must be exactly those that are written.
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
    """A kind of table, with its `columns` and the `optional` ones; None means any."""

    name: str
    description: str
    columns: frozenset[str]
    optional: frozenset[str] | None = frozenset()

    def has(self, columns: Collection[str]) -> bool:
        """Whether these are the columns of such a table."""
        extra = set(columns) - self.columns
        return self.columns <= set(columns) and (self.optional is None or extra <= self.optional)

    def kind(self) -> Kind:
        """The kind of file, for the check of output paths."""
        return Kind(self.description, SUFFIXES, self.wrote)

    def wrote(self, path: Path) -> bool:
        """Whether a file contains such a table written by Steelyard."""
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
KINDS = (VERDICTS, ANSWERS, SIMULATED)


def kind_of(columns: Sequence[str]) -> str:
    """Return the name of the kind of a table, stored in its metadata.

    >>> kind_of(DECIDED), kind_of(["question", "response"])
    ('verdicts', 'table')
    """
    return next((kind.name for kind in KINDS if kind.has(columns)), "table")


def any_table(columns: Sequence[str] | None = None) -> Kind:
    """Any table that Steelyard wrote, or one with exactly these columns, for calls to `write`."""

    def wrote(path: Path) -> bool:
        if path.suffix.lower() == ".parquet":
            return mark_in(path) is not None
        return columns is not None and columns_in(path) == list(columns)

    return Kind("a table", SUFFIXES, wrote)


def mark_in(path: Path) -> str | None:
    """Return the kind in the metadata of a Parquet file."""
    try:
        with hidden_panics():
            return pl.read_parquet_metadata(path).get(KEY)
    except DAMAGE:
        return None


def columns_in(path: Path) -> list[str] | None:
    """Return the columns of a file without metadata, from its first line; None if it is not a table."""
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
