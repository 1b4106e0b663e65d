"""Rows spread over parts by question, and the rows of one part read back in their original order.

In between they are chunks: each part has a file to which rows are appended as Arrow streams, each preceded by its
length.
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

BUFFER_BYTES = 32 << 20  # rows in memory
PART = "number of the part"
LENGTH = struct.Struct("<Q")


class Spread:
    """Buffers batches of rows, and appends them to the files of their parts once there are BUFFER_BYTES."""

    def __init__(self, folder: Path, parts: int) -> None:
        self.folder, self.parts = folder, parts
        self.buffer: list[pl.DataFrame] = []
        self.size = 0

    def __enter__(self) -> Spread:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if kind is None:
            self._write()

    def add(self, batch: pl.DataFrame) -> None:
        """Add a batch of rows."""
        questions = batch["question"].cast(pl.String)
        if questions.null_count():
            raise ColumnError(f"{questions.null_count()} rows or more have no question id: fill 'question'")
        ids = questions.unique()
        part_numbers = [part_of(question, self.parts) for question in ids]
        number = questions.replace_strict(ids, part_numbers, return_dtype=pl.Int32)
        self.buffer.append(batch.with_columns(number.alias(PART)))
        self.size += int(batch.estimated_size())
        if self.size > BUFFER_BYTES:
            self._write()

    def _write(self) -> None:
        if not self.buffer:
            return
        rows = pl.concat(self.buffer).sort(PART, maintain_order=True)
        self.buffer, self.size = [], 0
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
                raise RunError(
                    f"cannot write to {self.folder}: {reason(error)} ({room}); free some space there"
                ) from None


def rows_of_part(folders: Iterable[Path], part: int, schema: pl.Schema) -> pl.DataFrame:
    """Return the rows of a part with all columns of a schema, grouped by question in their original order."""
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
