"""Rows in any order -> the rows of each question together, in the order of their samples.

Question ids are replaced by numbers as the table is read: they are compared by two 64-bit hashes with secret seeds, so
that collisions cannot be constructed and do not occur by chance. All other columns are kept in memory, and batches are
gathered from them in the new order: there is never a second copy of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from secrets import randbits
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from steelyard.foundation.errors import TableError
from steelyard.voting.pools.arrays import Codes, Ints

BATCH = 100_000  # rows
SECRETS = randbits(64), randbits(64)
SMALLEST = 1 << 16  # slots of a hash table
MOST_ROWS = 1 << 31
ALL = (pl.all(),)

Rows = NDArray[np.uint32]


class QuestionNumbers:
    """Numbers for the questions of a table in order of first appearance, batch by batch."""

    def __init__(self) -> None:
        self.total = 0
        self._heads: list[pl.Series] = []
        self._table = np.zeros((SMALLEST, 3), np.uint64)

    def add(self, questions: pl.Series) -> Codes:
        """Return the number of each row's question."""
        from steelyard.voting import kernels

        if 2 * (self.total + len(questions)) > len(self._table):
            self._enlarge(2 * (self.total + len(questions)))
        keys, checks = (kernels.read_only(questions.hash(secret).to_numpy()) for secret in SECRETS)
        codes, rows, before = np.empty(len(questions), np.int32), np.empty(len(questions), np.int64), self.total
        self.total = kernels.number_rows(keys, checks, self._table, before, codes, rows)
        self._heads.append(questions.gather(rows[: self.total - before]))
        return codes

    def heads(self, empty: pl.Series) -> pl.Series:
        """Return the questions by number; `empty` is a column like theirs without rows."""
        return pl.concat((empty, *self._heads), rechunk=True)

    def _enlarge(self, size: int) -> None:
        """Copy the keys to a table of at least this size, with the same numbers."""
        from steelyard.voting import kernels

        used = self._table[self._table[:, 2] > 0]
        keys, checks, _ = (kernels.read_only(column) for column in used[np.argsort(used[:, 2])].T.copy())
        self._table = np.zeros((1 << (size - 1).bit_length(), 3), np.uint64)
        kernels.number_rows(keys, checks, self._table, 0, np.empty(len(keys), np.int32), np.empty(len(keys), np.int64))


class Grouped(NamedTuple):
    """The rows of a table, question by question, each sorted by sample; `starts` says where each question begins."""

    rows: pl.LazyFrame
    questions: pl.Series
    starts: Ints
    checked: bool  # whether every row has a question and a sample number that no other row of its question has


def group_questions(table: pl.LazyFrame, columns: Sequence[pl.Expr] = ALL) -> Grouped:
    """Sort rows by question (in order of first appearance), then by sample, then by position."""
    numbers, codes, parts = QuestionNumbers(), [np.empty(0, np.int32)], [table.clear().select(columns).collect()]
    names = sorted({name for column in columns for name in column.meta.root_names()}) or pl.all()
    for batch in table.select(names).collect_batches(chunk_size=BATCH, maintain_order=True):
        part = batch.select(columns)
        codes.append(numbers.add(part["question"]))
        parts.append(part.drop("question"))
    if sum(map(len, codes)) >= MOST_ROWS:
        raise TableError(
            f"the rows of a question are scattered over more than {MOST_ROWS:,} rows: sort them by question"
        )
    schema, heads, question = parts[0].schema, numbers.heads(parts[0]["question"]), np.concatenate(codes)
    parts[0] = parts[0].drop("question")
    rest = _joined(parts, [name for name in schema if name != "question"])
    counts = np.bincount(question, minlength=numbers.total)
    starts: Ints = np.concatenate(([0], np.cumsum(counts)))
    order, distinct = _order(question, starts, rest.get("sample"))
    question[:] = np.repeat(np.arange(numbers.total), counts)

    def batches(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        end = len(order) if n_rows is None else min(n_rows, len(order))
        for begin in range(0, end, BATCH):
            here = slice(begin, min(begin + BATCH, end))
            frame = pl.DataFrame(
                [
                    heads.gather(question[here]) if name == "question" else rest[name].gather(order[here])
                    for name in (schema if with_columns is None else with_columns)
                ]
            )
            yield frame if predicate is None else frame.filter(predicate)

    return Grouped(register_io_source(batches, schema=schema), heads, starts, distinct and not heads.null_count())


def _joined(parts: list[pl.DataFrame], names: Sequence[str]) -> dict[str, pl.Series]:
    """Join the parts column by column, dropping each from the parts."""
    joined = {}
    for name in names:
        joined[name] = pl.concat([part[name] for part in parts], rechunk=True)
        parts[:] = [part.drop(name) for part in parts]
    return joined


def _order(question: Codes, starts: Ints, sample: pl.Series | None) -> tuple[Rows, bool]:
    """Return the rows by question, then by sample, then by position, and whether samples are numbered and distinct."""
    from steelyard.voting import kernels

    packed = np.empty(len(question), np.int64)
    numbers = np.empty(0, np.int32) if sample is None else _small(sample.fill_null(0).to_numpy())
    distinct = kernels.order_rows(kernels.read_only(question), starts[1:].copy(), kernels.read_only(numbers), packed)
    return packed.astype(np.uint32), bool(distinct) and (sample is None or not sample.null_count())


def _small(numbers: NDArray[Any]) -> Codes:
    """Return numbers in the same order from 0 to 2^31 - 1: their distances from the lowest, or their ranks."""
    if not len(numbers):
        return numbers.astype(np.int32)
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= 2**31:
        return np.unique(numbers, return_inverse=True)[1].astype(np.int32)
    wide = numbers if numbers.dtype == np.uint64 else numbers.astype(np.int64)
    return (wide - low).astype(np.int32)
