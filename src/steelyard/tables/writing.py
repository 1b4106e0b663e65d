"""Tables -> files in the format of their suffix, written atomically and only to permitted paths."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation import outputs
from steelyard.foundation.arguments import choose_another
from steelyard.foundation.drafts import open_draft
from steelyard.foundation.errors import SettingError
from steelyard.foundation.files import UnwritableError, local_path, reason
from steelyard.foundation.outputs import Kind, replace_hint
from steelyard.foundation.panics import hidden_panics
from steelyard.foundation.store_address import Address, Place, is_one_of, place_of
from steelyard.tables.sources.file_checks import DAMAGE, LONGEST_LINE

KEY = "steelyard"
SUFFIXES = (".parquet", ".jsonl", ".ndjson", ".csv", ".arrow")
WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".parquet": lambda table, path: table.write_parquet(
        path, compression_level=1, metadata={KEY: kind_of(table.columns)}
    ),
    ".jsonl": pl.DataFrame.write_ndjson,
    ".ndjson": pl.DataFrame.write_ndjson,
    ".csv": pl.DataFrame.write_csv,
    ".arrow": pl.DataFrame.write_ipc,
}


def write(table: pl.DataFrame, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a table as Parquet, JSON lines, CSV or Arrow.

    An existing file is replaced if Steelyard wrote it: a Parquet file with its metadata, any other with exactly these
    columns. With `overwrite`, any file is replaced.

    >>> import steelyard as sy
    >>> write(sy.simulate(questions=2, samples=3), "responses.csv")
    >>> len(pl.read_csv("responses.csv"))
    6
    """
    check_output(path, any_table(table.columns), overwrite=overwrite)
    put(table, path)


def put(table: pl.DataFrame, path: str | Path) -> None:
    """Write a table to a path that was checked before."""
    with putting(table, place_of(path)):
        pass


@contextmanager
def putting(table: pl.DataFrame, target: Place) -> Iterator[Path]:
    """Yield a temporary file with the table, which is moved to its target when the block succeeds."""
    with open_draft(target) as draft:
        try:
            WRITERS[Path(target.name).suffix.lower()](table, draft.path)
        except pl.exceptions.PolarsError as error:
            if isinstance(target, Address) and "os error" in str(error):
                raise OSError(0, reason(error)) from None  # an error of the local file, not of the target
            raise SettingError(f"cannot write {target}: {error}; {choose_another()}") from None
        yield draft.path


def check_output(
    path: str | Path, kind: TableKind | Kind | None = None, *, inputs: Iterable[Any] = (), overwrite: bool = False
) -> None:
    """Refuse a path to which a table of this kind must not be written; without a kind, any table.

    On object stores, nothing is overwritten without `overwrite`, not even files that Steelyard wrote.
    """
    target = place_of(path)
    file_kind = any_table() if kind is None else kind.kind() if isinstance(kind, TableKind) else kind
    if isinstance(target, Address):
        _check_address(target, file_kind, list(inputs), overwrite)
        return
    outputs.check_output(path, file_kind, inputs=inputs, overwrite=overwrite)


def _check_address(target: Address, kind: Kind, inputs: Sequence[Any], overwrite: bool) -> None:
    if not target.name.lower().endswith(".parquet"):
        raise UnwritableError(
            str(target), "only Parquet can be written to object stores", "use .parquet, or a local file"
        )
    if not target.is_file():
        return
    local = local_path(str(target))
    if is_one_of(target, inputs) or (isinstance(local, Path) and outputs.input_at(local.resolve(), kind, inputs)):
        raise UnwritableError(str(target), "it is an input of this command, which is never overwritten")
    if not overwrite:
        raise UnwritableError(str(target), "it already exists", replace_hint())


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
VERDICTS = TableKind(
    "verdicts",
    "a table of verdicts",
    frozenset(DECIDED),
    frozenset({"answered", "answer_set", "source", "sample"}),
)
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
