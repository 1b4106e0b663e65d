"""Rows in order, each question contiguous and sorted by sample, and read as pools, a batch of questions at a time.

One pass over two columns checks the order and records the ids of the questions and where each begins, which delimits
the later batches; a table in another order is sorted in memory (scattered_rows.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from steelyard.answers.doubtful_answers import folded_column
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, TableError
from steelyard.foundation.text_views import views_of
from steelyard.tables.columns import CUT, LAST
from steelyard.tables.computed.token_scores import TOKEN_LISTS
from steelyard.tables.pools_from_frames import pool_from_frame
from steelyard.tables.scattered_rows import BATCH, group_questions
from steelyard.tables.sources.file_checks import partial_read
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.label_conflicts import LabelConflicts
from steelyard.voting.pools.origin import Origin
from steelyard.voting.pools.pool import Pool

KEYS = ("question", "sample", "source")
MANY_RUNS = 8  # runs of questions are checked at once if they have fewer rows on average, else at the end
BATCH_OF_TEXT = 2_000  # rows whose answers must be extracted; small, for visible progress


class ScatteredError(Exception):
    """The rows of a question are not contiguous in the order of their samples."""


class Order(NamedTuple):
    """The questions of a table in the order of its rows, and where each begins; the last entry is the end."""

    questions: pl.Series
    starts: Ints


class Ordered(NamedTuple):
    """Rows in order, and the columns to read from them."""

    rows: pl.LazyFrame
    columns: Sequence[pl.Expr]
    order: Order


def in_order(table: pl.LazyFrame, columns: Sequence[pl.Expr]) -> Ordered:
    """Return the rows of a table in order, sorted if needed, and without `sample`, which is then no longer needed."""
    keys = [expression for expression in columns if expression.meta.output_name() in KEYS]
    try:
        rest = [expression for expression in columns if expression.meta.output_name() != "sample"]
        return Ordered(table, rest, order_of(table, keys))
    except ScatteredError:
        rows, questions, starts, checked = group_questions(table, columns)
        _check_length(table, starts)
        keys = [pl.col(name) for name in KEYS if name in rows.collect_schema()]
        order = Order(questions, starts) if checked and len(keys) < len(KEYS) else order_of(rows, keys)
        return Ordered(rows, [pl.all().exclude("sample")], order)


def order_of(table: pl.LazyFrame, keys: Sequence[pl.Expr]) -> Order:
    """Find where each question begins, in one pass; raise ScatteredError if the rows are not in order.

    The keys are evaluated per batch, like the other columns later.
    """
    names = sorted({name for key in keys for name in key.meta.root_names()})
    heads: list[pl.Series] = [pl.Series("question", [], pl.String)]
    lengths: list[Ints] = []
    unchecked: list[pl.Series] = []
    previous: pl.DataFrame | None = None  # rows of the last sample of the previous batch
    for read in batches(table.select(names)):
        batch = read.select(keys)
        frame = batch if previous is None else pl.concat((previous, batch))
        begins, runs = checked_runs(frame, unchecked)
        length = np.diff(begins, append=frame.height)
        new = int(previous is not None)  # the first run continues the previous question
        if previous is not None:
            lengths[-1][-1] += length[0] - previous.height
        if len(length) > new:
            heads.append(runs.slice(new))
            lengths.append(length[new:])
        previous = _last_sample(frame, int(length[-1]))
    questions = pl.concat(heads)
    starts = np.concatenate(([0], np.cumsum(np.concatenate((np.empty(0, np.int64), *lengths)))))
    _check_length(table, starts)
    if questions.n_unique() < len(questions):
        raise ScatteredError
    return Order(questions, starts)


def batches(table: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Read a table in batches of rows, none of which is empty."""
    for batch in table.collect_batches(chunk_size=BATCH, maintain_order=True):
        if batch.height:
            yield batch


def checked_runs(frame: pl.DataFrame, unchecked: list[pl.Series]) -> tuple[Ints, pl.Series]:
    """Return where each run of rows of one question begins, and the questions; refuse rows that are not in order.

    `unchecked` are the questions of earlier batches of which some may be equal: it is cheaper to check all at the end.
    """
    questions = frame["question"].rechunk()
    rising = _rising_runs(frame, questions)
    begins = _run_starts(questions) if rising is None else rising
    runs = questions[begins]
    unchecked += [] if rising is None else [runs]
    if rising is None or MANY_RUNS * len(runs) > frame.height:
        if any(part.n_unique() < len(part) for part in unchecked):
            raise ScatteredError
        unchecked.clear()
    if rising is None:
        _check(frame, runs, np.diff(begins, append=frame.height))
    return begins, runs


def _run_starts(questions: pl.Series) -> Ints:
    """Return where each run of equal values begins."""
    starts = _runs_of_views(questions, np.empty(0, np.int64))
    if starts is not None:
        return starts
    lengths: Ints = questions.rle().struct.field("len").to_numpy().astype(np.int64)
    return np.cumsum(lengths) - lengths


def _rising_runs(frame: pl.DataFrame, questions: pl.Series) -> Ints | None:
    """Return where each run of a question begins, None unless the samples of each rise, which `_check` would find too.

    None also if this would need a closer look: samples without numbers, or of several sources.
    """
    if "source" in frame.columns:
        return None
    if "sample" not in frame.columns:
        return _runs_of_views(questions, np.empty(0, np.int64))
    sample = frame["sample"]
    return None if sample.null_count() else _runs_of_views(questions, sample.to_numpy())


def _runs_of_views(questions: pl.Series, samples: Ints) -> Ints | None:
    """Return where each run of equal texts begins; None if `run_starts` cannot find it, or samples do not rise."""
    from steelyard.voting import kernels

    views = None if questions.null_count() else views_of(questions)
    if views is None:
        return None
    starts = np.empty(len(views), np.int64)
    count = kernels.run_starts(views, samples, starts)
    return None if count < 0 else starts[:count]


def _check_length(table: pl.LazyFrame, starts: Ints) -> None:
    """Refuse a table of which only a part was read: a damaged file may end early without an error."""
    if starts[-1] != table.select(pl.len()).collect().item():
        raise partial_read()


def _check(frame: pl.DataFrame, questions: pl.Series, length: Ints) -> None:
    """Detect rows out of order; refuse rows without a question or a sample, and duplicate samples."""
    if questions.null_count():
        raise ColumnError(f"{frame['question'].null_count()} rows or more have no question id: fill 'question'")
    if questions.n_unique() < len(questions):
        raise ScatteredError
    if "sample" not in frame.columns:
        return
    missing = frame["sample"].null_count()
    if missing:
        raise ColumnError(f"{missing} rows or more have no sample number: fill or drop the column 'sample'")
    sample = frame["sample"].to_numpy()
    within = np.ones(len(sample) - 1, bool)  # pairs of neighbouring rows of one question
    within[np.cumsum(length)[:-1] - 1] = False
    same, falls = sample[1:] == sample[:-1], sample[1:] < sample[:-1]
    by_source = "source" in frame.columns  # each source numbers its own samples
    if (within & falls).any():
        raise ScatteredError
    if by_source:  # they keep the table's order within a sample: ties must not depend on names
        number = np.concatenate(([0], np.cumsum(~(within & same))))
        repeated = pl.DataFrame({"sample": number, "source": frame["source"]}).is_duplicated().to_numpy()
        twice = np.flatnonzero(repeated)
    else:
        twice = np.flatnonzero(within & same)
    if len(twice):
        row = int(twice[0])
        name_source = f" name the column that says who answered ({argument('source', 'llm')}),"
        qualifier, hint = (" of one source", "") if by_source else ("", name_source)
        raise TableError(
            f"question {frame['question'][row]!r} has sample {frame['sample'][row]}{qualifier} more than once: "
            f"number its samples 0, 1, 2, ..,{hint} or drop the repeated rows"
        )


def _last_sample(frame: pl.DataFrame, rows: int) -> pl.DataFrame:
    """Return the last rows of a batch with the same sample number; its last question has `rows` rows."""
    if "sample" not in frame.columns:
        return frame.tail(1)
    sample = frame["sample"].tail(rows).to_numpy()
    return frame.tail(rows - int(np.searchsorted(sample, sample[-1])))


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
    schema = rows.select(names).collect_schema()
    size = BATCH_OF_TEXT if "response" in schema or any(name in schema for name in TOKEN_LISTS) else BATCH
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
            heads, complete = questions.slice(first, end - first), frame.head(int(offsets[-1])).rechunk()
            if not complete["question"][offsets[:-1]].equals(heads):
                raise partial_read()
            yield counted_pool(complete, heads, offsets, origin, reader, conflicts, sources)
            first = end
        if progress:
            progress(min(1.0, read / total))
    if read != total:
        raise partial_read()


def counted_pool(
    frame: pl.DataFrame,
    questions: pl.Series,
    starts: Ints,
    origin: Origin,
    reader: AnswerReader,
    conflicts: LabelConflicts,
    sources: tuple[str, ...] = (),
) -> Pool:
    """Make a pool, and count its unreadable answers and its placeholders."""
    pool = pool_from_frame(frame, questions, starts, origin, reader, conflicts, sources)
    reader.responses += pool.n_responses
    unreadable = pool.answer < 0
    reader.unreadable += int(np.count_nonzero(unreadable))
    if reader.placeholders and (unreadable.any() or reader.kind.blank):
        reader.replaced += _placeholders(frame["answer"], unreadable, reader)
    return pool


def _placeholders(answers: pl.Series, unreadable: Bools, reader: AnswerReader) -> int:
    """Count the answers that are placeholders; unless a blank answer is one too, they are among the unreadable."""
    texts = answers if reader.kind.blank else answers.filter(pl.Series(unreadable))
    placeholders = pl.Series(sorted(reader.placeholders or ()), dtype=pl.String)
    return int(pl.select(folded_column(pl.lit(texts)).is_in(placeholders.implode()).sum()).item())


def _with_answers(batch: pl.DataFrame, reader: AnswerReader) -> pl.DataFrame:
    """Extract answers from responses if the table has no answers, and count how they were read."""
    cut = batch[CUT] if CUT in batch.columns else None
    if "response" in batch.columns:
        answers = [answer for answer, _ in reader.extract(batch["response"], cut)]
        return batch.drop("response", CUT, strict=False).with_columns(pl.Series("answer", answers, pl.String))
    last = batch[LAST] if LAST in batch.columns else None
    lost = 0 if cut is None else int((cut & batch["answer"].is_null()).sum())
    reader.counts.add_counts(0 if last is None else batch.height, 0 if last is None else int(last.sum()), lost)
    return batch if cut is None and last is None else batch.drop(CUT, LAST, strict=False)
