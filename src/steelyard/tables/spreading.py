"""Rows spread over parts by their question, and the rows of one part gathered again, in the order they came.

Between the two they are chunks: one file per part, to which the rows of that part are appended, some at a time, each
time as an Arrow stream after its length.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
import polars as pl

from steelyard.foundation.errors import ColumnError, RunError
from steelyard.foundation.files import free_bytes, reason
from steelyard.runs.parts import part_name, part_of

HELD = 32 << 20  # bytes of rows in memory
PART = "number of the part"
LENGTH = struct.Struct("<Q")


class Spread:
    """Takes rows, a batch at a time; once HELD bytes are there, they go to the files of their parts."""

    def __init__(self, folder: Path, parts: int) -> None:
        self.folder, self.parts = folder, parts
        self.held: list[pl.DataFrame] = []
        self.size = 0

    def __enter__(self) -> Spread:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if kind is None:
            self._write()

    def add(self, batch: pl.DataFrame) -> None:
        """Take some rows."""
        questions = batch["question"].cast(pl.String)
        if questions.null_count():
            raise ColumnError(f"{questions.null_count()} rows or more have no question id: fill 'question'")
        ids = questions.unique()
        places = [part_of(question, self.parts) for question in ids]
        number = questions.replace_strict(ids, places, return_dtype=pl.Int32)
        self.held.append(batch.with_columns(number.alias(PART)))
        self.size += int(batch.estimated_size())
        if self.size > HELD:
            self._write()

    def _write(self) -> None:
        if not self.held:
            return
        rows = pl.concat(self.held).sort(PART, maintain_order=True)
        self.held, self.size = [], 0
        runs = rows[PART].rle().struct.unnest()
        ends = np.cumsum(runs["len"].to_numpy())
        rows = rows.drop(PART)
        for part, length, end in zip(runs["value"], runs["len"], ends, strict=True):
            chunk = io.BytesIO()
            rows.slice(int(end) - length, length).write_ipc_stream(chunk)
            try:
                with (self.folder / part_name(part)).open("ab") as file:
                    file.write(LENGTH.pack(chunk.tell()) + chunk.getvalue())
            except OSError as error:
                room = free_bytes(self.folder)
                raise RunError(f"cannot write to {self.folder}: {reason(error)} ({room}); make room there") from None


def gathered(folders: Iterable[Path], part: int, schema: pl.Schema) -> pl.DataFrame:
    """The rows of a part, with all columns of a schema, those of a question together and in the order they came."""
    chunks = [chunk for folder in folders for chunk in _chunks(folder / part_name(part))]
    rows = pl.concat([pl.DataFrame(schema=schema), *chunks], how="diagonal_relaxed")
    heads = rows["question"].rle().struct.field("value")
    if heads.n_unique() == len(heads):
        return rows
    first = pl.col(PART).min().over("question")
    return rows.with_row_index(PART).with_columns(first).sort(PART, maintain_order=True).drop(PART)


def _chunks(path: Path) -> Iterator[pl.DataFrame]:
    if not path.exists():
        return
    with path.open("rb") as file:
        while head := file.read(LENGTH.size):
            yield pl.read_ipc_stream(io.BytesIO(file.read(LENGTH.unpack(head)[0])))
