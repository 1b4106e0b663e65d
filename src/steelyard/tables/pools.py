"""A frame with the rows of each question together -> a pool; and pools joined end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from secrets import randbits
from typing import Any, cast

import numpy as np
import polars as pl

from steelyard.answers.same import key
from steelyard.arrays import Bools, Codes, Ints, checked_scores, number_keys
from steelyard.errors import LabelError, TableError
from steelyard.pool import LabelledPool, Pool, Source

# Texts are told apart by a 64-bit hash. With a seed nobody can know, two texts of one question
# cannot be made to collide, and by chance they do so once in 10^19 pairs.
SECRET = randbits(64)


def pool_from_frame(frame: pl.DataFrame, questions: pl.Series, starts: Ints, origin: Source) -> Pool:
    """Code the answers of each question and check scores and labels."""
    codes, width, names = _coded(starts, frame["answer"])
    codes, width, names = _merged(codes, width, names, starts)
    scores = None
    if "score" in frame.columns:
        score = frame["score"]
        known = score.fill_null(np.nan) if score.null_count() else score
        scores = checked_scores(known.to_numpy(), cast(str, origin.score))
    pool = Pool(starts, codes, scores, np.cumsum(width) - width, width, questions, names, origin)
    return pool.labelled(_labels(frame)) if "correct" in frame.columns else pool


def _coded(starts: Ints, texts: pl.Series) -> tuple[Codes, Ints, pl.Series]:
    """Number the distinct texts of each question; return codes, counts and the texts."""
    readable: Bools = texts.is_not_null().to_numpy() if texts.null_count() else np.ones(len(texts), bool)
    codes, rows, width = number_keys(starts, texts.hash(SECRET).to_numpy(), readable)
    return codes, width, texts.gather(rows)


def _merged(codes: Codes, width: Ints, texts: pl.Series, starts: Ints) -> tuple[Codes, Ints, pl.Series]:
    """Let texts that are the same answer share a code; what has no key is unreadable."""
    keys = texts.to_frame().select(key(pl.col(texts.name))).to_series()
    if keys.equals(texts):
        return codes, width, texts
    filled = width > 0
    base = np.cumsum(width) - width
    merged, fewer, names = _coded(np.append(base[filled], len(texts)), keys)
    lookup = np.append(merged, np.int32(-1))
    place = np.where(codes < 0, len(texts), np.repeat(base, np.diff(starts)) + codes)
    merged_width = np.zeros_like(width)
    merged_width[filled] = fewer
    return lookup[place], merged_width, names


def _labels(frame: pl.DataFrame) -> np.ndarray[Any, Any]:
    correct = frame["correct"]
    if correct.null_count():
        row = int(correct.is_null().arg_true()[0])
        raise LabelError(
            f"{correct.null_count()} responses have no label that is true or false, the first in question "
            f"{frame['question'][row]!r}: complete 'correct' or 'gold', or drop the column"
        )
    return correct.to_numpy()


def join(pools: Sequence[Pool]) -> Pool:
    """Put pools of different questions one after the other."""
    if not pools:
        raise TableError("there are no responses")
    if len(pools) == 1:
        return pools[0]
    rows = np.cumsum([0] + [pool.n_responses for pool in pools])
    answers = np.cumsum([0] + [len(pool.names) for pool in pools])
    first = pools[0]
    joined = replace(
        first.unlabelled() if isinstance(first, LabelledPool) else first,
        starts=np.concatenate([pool.starts[:-1] + at for pool, at in zip(pools, rows, strict=False)] + [rows[-1:]]),
        answer=np.concatenate([pool.answer for pool in pools]),
        scores=None if first.scores is None else np.concatenate([pool.known_scores for pool in pools]),
        base=np.concatenate([pool.base + at for pool, at in zip(pools, answers, strict=False)]),
        width=np.concatenate([pool.width for pool in pools]),
        questions=pl.concat([pool.questions for pool in pools]),
        names=pl.concat([pool.names for pool in pools]),
    )
    if not isinstance(first, LabelledPool):
        return joined
    right = np.concatenate([cast(LabelledPool, pool).right[: len(pool.names)] for pool in pools] + [[False]])
    return LabelledPool(**vars(joined), right=right)
