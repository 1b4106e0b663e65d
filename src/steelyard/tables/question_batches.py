"""A long table whose order is settled, in batches of whole questions: each becomes a pool."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from steelyard.answers.placeholders import folded_column
from steelyard.answers.reader import AnswerReader
from steelyard.tables.how_answers_were_read import CUT, LAST
from steelyard.tables.pools_from_frames import pool_from_frame
from steelyard.tables.row_order import BATCH, Ordered, cut_short
from steelyard.voting.pools.label_conflicts import LabelConflicts
from steelyard.voting.pools.pool import Origin, Pool

BATCH_OF_TEXT = 2_000  # rows whose answers are yet to be read, so that progress is seen


def pools(
    table: Ordered,
    origin: Origin,
    reader: AnswerReader,
    progress: Callable[[float], None] | None,
    conflicts: LabelConflicts,
    sources: tuple[str, ...] = (),
) -> Iterator[Pool]:
    """Cut a table into batches of whole questions and code each as a pool.

    What is wanted is computed batch by batch here, not in the query: there it would be computed ahead
    and held, several times the memory.
    """
    rows, wanted, (questions, starts) = table
    rest = pl.DataFrame()
    read = first = 0  # rows, and the first question that was not yet whole
    names = sorted({name for expression in wanted for name in expression.meta.root_names()}) or pl.all()
    total = int(starts[-1])
    size = BATCH_OF_TEXT if "response" in rows.select(names).collect_schema() else BATCH
    for batch in rows.select(names).collect_batches(chunk_size=size, maintain_order=True):
        if not batch.height:
            continue
        read += batch.height
        ready = _with_answers(batch.select(wanted), reader)
        frame = pl.concat((rest, ready)) if rest.height else ready
        end = int(np.searchsorted(starts, read, "right")) - 1  # the questions before it are whole
        places = starts[first : end + 1] - starts[first]
        rest = frame.slice(int(places[-1]))
        if end > first:
            heads = questions.slice(first, end - first)
            if not frame["question"].gather(places[:-1]).equals(heads):
                raise cut_short()
            pool = pool_from_frame(frame.head(int(places[-1])), heads, places, origin, reader, conflicts, sources)
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
        raise cut_short()


def _with_answers(batch: pl.DataFrame, reader: AnswerReader) -> pl.DataFrame:
    """Read the answers out of the responses, where the table has only those; count how they were read."""
    cut = batch[CUT] if CUT in batch.columns else None
    if "response" in batch.columns:
        answers = [answer for answer, _ in reader.extract(batch["response"], cut)]
        return batch.drop("response", CUT, strict=False).with_columns(pl.Series("answer", answers, pl.String))
    last = batch[LAST] if LAST in batch.columns else None
    lost = 0 if cut is None else int((cut & batch["answer"].is_null()).sum())
    reader.counts.add_counts(0 if last is None else batch.height, 0 if last is None else int(last.sum()), lost)
    return batch.drop(CUT, LAST, strict=False)
