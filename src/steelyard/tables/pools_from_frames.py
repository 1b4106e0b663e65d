"""A frame whose rows are grouped by question -> a pool; and pools joined end to end."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from secrets import randbits
from typing import Any, cast

import numpy as np
import polars as pl

from steelyard.answers.reader import AnswerReader
from steelyard.foundation.errors import LabelError, ScoreError, SteelyardWarning, TableError
from steelyard.foundation.text_views import views_of
from steelyard.tables.compared_texts import SAMPLE, compared_values, similarity_of
from steelyard.tables.duplicates import TEXT_CODE, codes_of
from steelyard.tables.grades import ATTEMPTED
from steelyard.tables.on_demand_scores import joined_scored, with_on_demand_scores
from steelyard.voting.pools.arrays import Bools, Codes, Floats, Ints, number_keys, number_texts
from steelyard.voting.pools.label_conflicts import LabelConflicts
from steelyard.voting.pools.origin import Origin
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.relative_scores import relative_scores
from steelyard.voting.pools.scores import checked_scores
from steelyard.voting.pools.similarity import Similarity

# Long texts are compared by a 64-bit hash. With a secret seed, collisions between the texts of a question
# cannot be constructed, and by chance they occur once in 10^19 pairs.
SECRET = randbits(64)


def pool_from_frame(
    frame: pl.DataFrame,
    questions: pl.Series,
    starts: Ints,
    origin: Origin,
    reader: AnswerReader,
    conflicts: LabelConflicts,
    sources: tuple[str, ...] = (),
) -> Pool:
    """Encode the answers of each question as integers, and check scores and labels."""
    frame = _with_relative(frame, starts, origin)
    compared = compared_values(frame, reader.kind)
    codes, rows, width = _coded(starts, compared)
    texts = compared[rows]
    base, which = np.cumsum(width) - width, np.repeat(np.arange(len(questions)), width)
    gold = _gold(frame, questions, starts, reader.kind.blank) if "gold" in frame.columns else None

    def text_index() -> Ints:
        """Index of each response's answer in the texts, len(texts) if it has none."""
        return np.where(codes < 0, len(texts), np.repeat(base, np.diff(starts)) + codes)

    def votes(golds: int = 0) -> Ints:
        """Number of responses with each text; gold answers rank first, because labels depend on them."""
        counts = np.bincount(text_index(), minlength=len(texts) + 1)[: len(texts)]
        return np.concatenate((counts, np.full(golds, frame.height)))

    if gold is None:
        keys = reader.keys(texts, which, votes)
    else:
        keys, same = reader.labelled(texts, which, gold, votes)
    if keys is texts:  # all are in their normal form, so each is an answer of its own
        merged, firsts, fewer, names = codes[rows], np.arange(len(texts)), width, texts
    else:
        merged, firsts, fewer = _coded(np.concatenate(([0], np.cumsum(width))), keys)
        names = frame["answer"].gather(rows[firsts]).str.strip_chars()
    answer = np.append(merged, np.int32(-1))[text_index()] if len(firsts) < len(texts) else codes
    pool = Pool(
        starts=starts,
        answer=answer,
        scores=checked_scores(_numbers(frame, "score"), str(origin.score)) if "score" in frame.columns else None,
        base=np.cumsum(fewer) - fewer,
        width=fewer,
        questions=questions,
        names=names,
        origin=origin,
        source=frame["source"].to_numpy().astype(np.int32) if sources else None,
        sources=sources,
        tokens=_numbers(frame, "tokens") if "tokens" in frame.columns else None,
        text=codes_of(frame[TEXT_CODE]) if TEXT_CODE in frame.columns else None,
    )
    if reader.kind.similarity is not None:
        similarity = similarity_of(reader.kind, texts.gather(firsts), fewer, frame, starts)
        pool = replace(pool, similarity=similarity, sample=_samples(frame, starts))
    if origin.parts:
        pool = pool.with_parts({name: _numbers(frame, f"score {i}") for i, name in enumerate(origin.parts)})
    pool = with_on_demand_scores(pool, frame)
    if gold is not None:
        return _by_gold(pool, same, merged, which)
    if "correct" in frame.columns:
        answer_correct = conflicts.label(pool, _labels(frame))
        attempted = _attempted(pool, frame)
        return LabelledPool(**vars(pool), answer_correct=answer_correct, answer_attempted=attempted)
    return pool


def _with_relative(frame: pl.DataFrame, starts: Ints, origin: Origin) -> pl.DataFrame:
    """Standardise the scores that are relative to the other responses of their question and source."""
    names = origin.parts or (origin.score,)
    columns = [f"score {i}" if origin.parts else "score" for i, name in enumerate(names) if name in origin.relative]
    if not columns:
        return frame
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if "source" in frame.columns:
        source = frame["source"].to_numpy().astype(np.int64)
        group = group * (int(source.max(initial=0)) + 1) + source
    for name in columns:
        values = _numbers(frame, name).astype(np.float64)
        if np.isinf(values).any():
            row = int(np.isinf(values).argmax())
            raise ScoreError(
                f"{origin.score!r} of a response to question {frame['question'][row]!r} cannot be computed: its length "
                "is negative or infinite; correct or remove it"
            )
        frame = frame.with_columns(pl.Series(name, relative_scores(values, group)))
    return frame


def _attempted(pool: Pool, frame: pl.DataFrame) -> Bools | None:
    """Return which answers were attempted; one is not if most of its responses were graded so."""
    if ATTEMPTED not in frame.columns:
        return None
    return ~LabelConflicts().label(pool, ~frame[ATTEMPTED].to_numpy())


def _samples(frame: pl.DataFrame, starts: Ints) -> Ints:
    """Return the sample number of every response; in a table without numbers its position in the question."""
    if SAMPLE in frame.columns:
        return frame[SAMPLE].to_numpy()
    return np.arange(frame.height) - np.repeat(starts[:-1], np.diff(starts))


def _numbers(frame: pl.DataFrame, column: str) -> Floats:
    """Return a column as an array, with NaN for null."""
    values = frame[column]
    return (values.fill_null(np.nan) if values.null_count() else values).to_numpy()


def _coded(starts: Ints, texts: pl.Series) -> tuple[Codes, Ints, Ints]:
    """Number the distinct texts of each question; return codes, the rows where they first appear, and counts."""
    readable: Bools = texts.is_not_null().to_numpy() if texts.null_count() else np.ones(len(texts), bool)
    views = views_of(texts)
    coded = None if views is None else number_texts(starts, views, readable)
    return number_keys(starts, texts.hash(SECRET).to_numpy(), readable) if coded is None else coded


def _gold(frame: pl.DataFrame, questions: pl.Series, starts: Ints, blank: bool) -> pl.Series:
    """Return the gold answer of each question, which must be the same for all its responses."""
    gold = frame["gold"]
    first = gold.gather(starts[:-1])
    if gold.null_count():
        row = int(gold.is_null().arg_true()[0])
        empty = ' (in CSV the empty text is written "")' if blank else ""
        raise LabelError(
            f"{gold.null_count()} responses have no gold answer, the first in question {frame['question'][row]!r}: "
            f"fill the column 'gold'{empty}, or drop it"
        )
    differs = gold != first.gather(np.repeat(np.arange(len(questions)), np.diff(starts)))
    if differs.any():
        row = int(differs.arg_true()[0])
        raise LabelError(f"question {frame['question'][row]!r} has several gold answers: keep one")
    return first


def _by_gold(pool: Pool, is_correct: Bools, merged: Codes, which: Ints) -> LabelledPool:
    """Label answers by their texts (`is_correct` [texts]); one correct spelling makes an answer correct."""
    by_answer = np.zeros(int(pool.width.sum()) + 1, bool)
    index = np.where(merged < 0, len(by_answer) - 1, pool.base[which] + merged)
    np.logical_or.at(by_answer, index, is_correct)
    by_answer[-1] = False
    differing = np.flatnonzero((by_answer[index] != is_correct) & (merged >= 0))
    if len(differing):
        warnings.warn(
            f"{len(differing)} answers are the same as another of their question but labelled differently, the first "
            f"in question {pool.questions[int(which[differing[0]])]!r}: such an answer counts as correct",
            SteelyardWarning,
            stacklevel=2,
        )
    return LabelledPool(**vars(pool), answer_correct=by_answer)


def _labels(frame: pl.DataFrame) -> np.ndarray[Any, Any]:
    correct = frame["correct"]
    if correct.null_count():
        row = int(correct.is_null().arg_true()[0])
        raise LabelError(
            f"{correct.null_count()} responses have no label that is true or false, the first in question "
            f"{frame['question'][row]!r}: fill 'correct', or drop the column"
        )
    return correct.to_numpy()


def join(pools: Sequence[Pool]) -> Pool:
    """Concatenate pools of different questions."""
    if not pools:
        raise TableError("there are no responses")
    if len(pools) == 1:
        return pools[0]
    rows = np.cumsum([0] + [pool.n_responses for pool in pools])
    answers = np.cumsum([0] + [len(pool.names) for pool in pools])
    first = pools[0]
    joined = replace(
        first.unlabelled() if isinstance(first, LabelledPool) else first,
        starts=np.concatenate(
            [pool.starts[:-1] + offset for pool, offset in zip(pools, rows, strict=False)] + [rows[-1:]]
        ),
        answer=np.concatenate([pool.answer for pool in pools]),
        scores=None if first.scores is None else np.concatenate([pool.known_scores for pool in pools]),
        parts=None if first.parts is None else np.concatenate([cast(Floats, pool.parts) for pool in pools]),
        source=None if first.source is None else np.concatenate([cast(Codes, pool.source) for pool in pools]),
        tokens=None if first.tokens is None else np.concatenate([cast(Floats, pool.tokens) for pool in pools]),
        text=None if first.text is None else np.concatenate([cast(Ints, pool.text) for pool in pools]),
        sample=None if first.sample is None else np.concatenate([cast(Ints, pool.sample) for pool in pools]),
        scored=joined_scored(pools),
        similarity=None
        if first.similarity is None
        else Similarity.join([cast(Similarity, p.similarity) for p in pools]),
        base=np.concatenate([pool.base + offset for pool, offset in zip(pools, answers, strict=False)]),
        width=np.concatenate([pool.width for pool in pools]),
        questions=pl.concat([pool.questions for pool in pools]),
        names=pl.concat([pool.names for pool in pools]),
    )
    if not isinstance(first, LabelledPool):
        return joined
    labelled = [cast(LabelledPool, pool) for pool in pools]
    is_correct = _joined_labels([pool.answer_correct for pool in labelled], labelled)
    attempted = [pool.answer_attempted for pool in labelled if pool.answer_attempted is not None]
    return LabelledPool(
        **vars(joined),
        answer_correct=is_correct,
        answer_attempted=_joined_labels(attempted, labelled) if attempted else None,
    )


def _joined_labels(labels: Sequence[Bools], pools: Sequence[Pool]) -> Bools:
    """Concatenate labels of answers, each without its last entry, and add one."""
    return np.concatenate([*(part[: len(pool.names)] for part, pool in zip(labels, pools, strict=True)), [False]])
