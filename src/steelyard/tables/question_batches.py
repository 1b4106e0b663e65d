"""An ordered table -> one pool per batch of complete questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from steelyard.answers.placeholders import folded_column
from steelyard.answers.reader import AnswerReader
from steelyard.tables.finish_and_rule import CUT, LAST
from steelyard.tables.pools_from_frames import pool_from_frame
from steelyard.tables.row_order import BATCH, Ordered, partial_read
from steelyard.voting.pools.label_conflicts import LabelConflicts
from steelyard.voting.pools.pool import Origin, Pool

BATCH_OF_TEXT = 2_000  # rows whose answers must be extracted; small, for visible progress


def pools(
    table: Ordered,
    origin: Origin,
    reader: AnswerReader,
    progress: Callable[[float], None] | None,
    conflicts: LabelConflicts,
    sources: tuple[str, ...] = (),
) -> Iterator[Pool]:
    """Split a table into batches of complete questions and make a pool of each.

    The expressions are evaluated per batch here, not in the query, which would evaluate them ahead and take several
    times the memory.
    """
    rows, columns, (questions, starts) = table
    rest = pl.DataFrame()
    read = first = 0  # rows, and the first incomplete question
    names = sorted({name for expression in columns for name in expression.meta.root_names()}) or pl.all()
    total = int(starts[-1])
    size = BATCH_OF_TEXT if "response" in rows.select(names).collect_schema() else BATCH
    for batch in rows.select(names).collect_batches(chunk_size=size, maintain_order=True):
        if not batch.height:
            continue
        read += batch.height
        ready = _with_answers(batch.select(columns), reader)
        frame = pl.concat((rest, ready)) if rest.height else ready
        end = int(np.searchsorted(starts, read, "right")) - 1  # the questions before it are complete
        offsets = starts[first : end + 1] - starts[first]
        rest = frame.slice(int(offsets[-1]))
        if end > first:
            heads = questions.slice(first, end - first)
            if not frame["question"].gather(offsets[:-1]).equals(heads):
                raise partial_read()
            pool = pool_from_frame(frame.head(int(offsets[-1])), heads, offsets, origin, reader, conflicts, sources)
            reader.responses += pool.n_responses
            if reader.placeholders:
                answers = folded_column(pl.col("answer"))
                missing = frame.head(pool.n_responses).select(answers.is_in(sorted(reader.placeholders)).sum())
                reader.replaced += int(missing.item())
            reader.unreadable += int((pool.answer < 0).sum())
            yield pool
            first = end
        if progress:
            progress(min(1.0, read / total))
    if read != total:
        raise partial_read()


def _with_answers(batch: pl.DataFrame, reader: AnswerReader) -> pl.DataFrame:
    """Extract answers from responses if the table has no answers, and count how they were read."""
    cut = batch[CUT] if CUT in batch.columns else None
    if "response" in batch.columns:
        answers = [answer for answer, _ in reader.extract(batch["response"], cut)]
        return batch.drop("response", CUT, strict=False).with_columns(pl.Series("answer", answers, pl.String))
    last = batch[LAST] if LAST in batch.columns else None
    lost = 0 if cut is None else int((cut & batch["answer"].is_null()).sum())
    reader.counts.add_counts(0 if last is None else batch.height, 0 if last is None else int(last.sum()), lost)
    return batch.drop(CUT, LAST, strict=False)
