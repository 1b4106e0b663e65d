"""A long table in batches of whole questions, watched for rows that do not stand together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import polars as pl

from steelyard.answers.reader import AnswerReader
from steelyard.errors import ColumnError, TableError
from steelyard.pools.arrays import Ints
from steelyard.pools.pool import Pool, Source
from steelyard.tables.pools_from_frames import pool_from_frame

BATCH = 100_000  # rows
BATCH_OF_TEXT = 2_000  # rows whose answers are yet to be read, so that progress is seen


class ScatteredError(Exception):
    """A question's rows do not stand together in the order of their samples."""


@dataclass
class _Watch:
    """Notices, over all batches, a question that comes back or samples out of order."""

    heads: list[pl.Series] = field(default_factory=list)

    def see(self, questions: pl.Series, starts: Ints, frame: pl.DataFrame) -> None:
        if questions.null_count():
            raise ColumnError(f"{frame['question'].null_count()} rows or more have no question id: fill 'question'")
        if questions.n_unique() < len(questions):
            raise ScatteredError
        self.heads.append(questions)
        if "sample" in frame.columns:
            _check_samples(frame, starts)

    def finish(self) -> None:
        if self.heads and pl.concat(self.heads).n_unique() < sum(map(len, self.heads)):
            raise ScatteredError


def _check_samples(frame: pl.DataFrame, starts: Ints) -> None:
    missing = frame["sample"].null_count()
    if missing:
        raise ColumnError(f"{missing} rows or more have no sample number: fill or drop the column 'sample'")
    sample = frame["sample"].to_numpy()
    within = np.ones(len(sample) - 1, bool)  # pairs of neighbours that answer one question
    within[starts[1:-1] - 1] = False
    if (within & (sample[1:] < sample[:-1])).any():
        raise ScatteredError
    twice = np.flatnonzero(within & (sample[1:] == sample[:-1]))
    if len(twice):
        row = int(twice[0])
        raise TableError(
            f"question {frame['question'][row]!r} has sample {frame['sample'][row]} more than once: "
            "number its samples 0, 1, 2, .. or drop the repeated rows"
        )


def pools(
    table: pl.LazyFrame,
    wanted: list[pl.Expr],
    origin: Source,
    reader: AnswerReader,
    progress: Callable[[float], None] | None,
) -> Iterator[Pool]:
    """Cut a table into batches of whole questions and code each as a pool.

    `wanted` is computed batch by batch here, not in the query: there it would be computed ahead
    and held, several times the memory.
    """
    watch = _Watch()
    rest = pl.DataFrame()
    done = 0
    names = sorted({name for expression in wanted for name in expression.meta.root_names()}) or pl.all()
    total = table.select(pl.len()).collect().item()
    size = BATCH_OF_TEXT if "response" in table.select(names).collect_schema() else BATCH
    for read in chain(table.select(names).collect_batches(chunk_size=size, maintain_order=True), [None]):
        batch = None if read is None else _with_answers(read.select(wanted), reader)
        frame = rest if batch is None else pl.concat((rest, batch)) if rest.height else batch
        if not frame.height:
            continue
        runs = frame["question"].rle().struct.unnest()
        starts = np.concatenate(([0], np.cumsum(runs["len"].to_numpy().astype(np.int64))))
        whole = len(starts) - 1 if batch is None else len(starts) - 2  # the last question may go on
        rest = frame.slice(int(starts[whole]))
        if whole:
            questions, frame = runs["value"].head(whole), frame.head(int(starts[whole]))
            watch.see(questions, starts[: whole + 1], frame)
            yield pool_from_frame(frame, questions, starts[: whole + 1], origin, reader)
        done += 0 if batch is None else batch.height
        if progress:
            progress(done / total)
    if done != total:
        raise TableError("the table was read only in part: the reading was interrupted, or it changed; run it again")
    watch.finish()


def _with_answers(batch: pl.DataFrame, reader: AnswerReader) -> pl.DataFrame:
    """Read the answers out of the responses, where the table has only those."""
    if "response" not in batch.columns:
        return batch
    answers = [answer for answer, _ in reader.extract(batch["response"])]
    return batch.drop("response").with_columns(pl.Series("answer", answers, pl.String))
