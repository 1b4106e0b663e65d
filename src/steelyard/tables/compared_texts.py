"""What free text is compared by: the prompt and the user's own column, and the similarity of a pool's answers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
import polars as pl

from steelyard.answers.json_values import is_json
from steelyard.answers.kind import Kind
from steelyard.answers.similarities.cosine import vector_of
from steelyard.answers.similarities.similarity import find_similarity, similarity_blocks
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, SteelyardWarning, TableError, did_you_mean
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.similarity import Similarity

LABELS = ("correct", "grade", "gold")
PROMPT, COMPARED, SAMPLE = "the prompt", "what is compared", "sample number"  # columns of a batch while it is read
VECTORS = "cosine"  # the similarity of columns of vectors
JUDGED = "judged"  # the similarity of columns of judgements
JSON = "json"
INSPECTED = 200  # texts that are looked at
MOST_TEXTS = 4096  # different texts of one question
MOST_PAIRS = 1 << 28  # of all questions of a pool: 1 GB


def compared_columns(frame: pl.LazyFrame, kind: Kind) -> list[pl.Expr]:
    """Return the prompt, whose words do not count, and the column that is compared in place of the text, if any.

    Samples keep their numbers, because a verdict names the response that won.
    """
    columns, schema = [], frame.collect_schema()
    if "sample" in schema and schema["sample"].is_integer():
        columns.append(pl.col("sample").cast(pl.Int64).alias(SAMPLE))
    if schema.get("prompt") == pl.String:
        columns.append(pl.col("prompt").alias(PROMPT))
    if kind.column is None:
        _check_values(frame, kind)
        return columns
    if kind.column not in schema:
        raise ColumnError(f"there is no column {kind.column!r} to compare: {did_you_mean(kind.column, schema.names())}")
    value, dtype = pl.col(kind.column), schema[kind.column]
    if kind.column in LABELS:
        raise ColumnError(f"{kind.column!r} has labels, which must not decide a vote: compare another column")
    if kind.similarity == VECTORS and not (dtype.is_nested() or dtype == pl.String):
        raise ColumnError(f"the column {kind.column!r} contains {dtype}, not vectors: 'steelyard score' makes some")
    if kind.similarity == JUDGED and dtype != pl.String:
        raise ColumnError(
            f"the column {kind.column!r} contains {dtype}, not judgements: 'steelyard score --verifier same-meaning' "
            "makes some"
        )
    _check_values(frame, kind)
    if dtype.is_nested():  # as JSON
        value = pl.struct(value.alias("v")).struct.json_encode().str.slice(len('{"v":'))
        value = pl.when(pl.col(kind.column).is_not_null()).then(value.str.head(-1))
    return [*columns, value.cast(pl.String).alias(COMPARED)]


def _check_values(frame: pl.LazyFrame, kind: Kind) -> None:
    """Refuse a column without vectors, and warn of responses without JSON: they would be compared as whole texts."""
    if kind.similarity not in (VECTORS, JSON):
        return
    schema = frame.collect_schema()
    column = kind.column or ("response" if "response" in schema else "answer")
    if schema[column] != pl.String:
        return
    texts = frame.select(pl.col(column).drop_nulls()).head(INSPECTED).collect().to_series()
    if kind.similarity == VECTORS:
        if len(texts) and all(vector_of(text) is None for text in texts):
            raise ColumnError(
                f"the column {column!r} contains texts such as {texts[0]!r:.40}, not vectors: write each vector as a "
                "JSON list, or let 'steelyard score --verifier embeddings' make them"
            )
        return
    answers = [answer for text in texts if (answer := kind.extract(text).answer) is not None]
    if answers and not any(map(is_json, answers)):
        warnings.warn(
            f"none of the first {len(answers):,} responses is JSON, so only equal texts vote for each other: use "
            f"{argument('answers', 'free')} to compare words",
            SteelyardWarning,
            stacklevel=3,
        )


def compared_values(frame: pl.DataFrame, kind: Kind) -> pl.Series:
    """Return the text by which each response is compared; null if the response is unreadable.

    A response without a vector is compared by its answer, which equals no vector. Judgements are about answers, and
    pairs without one are compared by their words: the text is a JSON object with both.
    """
    if COMPARED not in frame.columns:
        return frame["answer"]
    value = pl.col(COMPARED)
    if kind.similarity == VECTORS:
        value = pl.coalesce(COMPARED, pl.format("text: {}", "answer"))
    if kind.similarity == JUDGED:
        value = pl.struct("answer", value.alias(JUDGED)).struct.json_encode()
    return frame.select(pl.when(pl.col("answer").is_not_null()).then(value).alias(COMPARED))[COMPARED]


def similarity_of(kind: Kind, texts: pl.Series, width: Ints, frame: pl.DataFrame, starts: Ints) -> Similarity:
    """Compare the distinct texts of every question; `width` [Q] says how many it has."""
    widest = int(width.max(initial=0))
    if widest > MOST_TEXTS:
        question = frame["question"][int(starts[int(np.argmax(width))])]
        raise TableError(
            f"question {question!r} has {widest:,} different responses, and all pairs are compared: keep at most "
            f"{MOST_TEXTS:,} per question in the file"
        )
    prompts = frame[PROMPT].gather(starts[:-1]).to_list() if PROMPT in frame.columns else None
    begins = np.concatenate(([0], np.cumsum(width)))
    return Similarity(*similarity_blocks(find_similarity(str(kind.similarity)), texts.to_list(), begins, prompts))


def in_memory(pools: Iterable[Pool]) -> list[Pool]:
    """Collect pools that are to be joined, as long as their similarities fit into memory."""
    collected, pairs = [], 0
    for pool in pools:
        collected.append(pool)
        pairs += 0 if pool.similarity is None else len(pool.similarity.values)
        if pairs > MOST_PAIRS:
            raise TableError(
                f"more than {MOST_PAIRS:,} pairs of responses would be compared: keep fewer responses per question, or "
                "use 'steelyard vote', which reads one batch at a time"
            )
    return collected
