"""From arrays with one entry per response to the arrays of a pool: group, code, check.

A source is whatever tells responses apart by their author: an LLM, a prompt, a temperature, an annotator.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from secrets import randbits
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import ColumnError, LabelError, SettingError, SteelyardWarning

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Bools = NDArray[np.bool_]
SECRETS = np.array([randbits(64) | 1, randbits(64) | 1], np.uint64)
MOST_SOURCES = 1000  # sources; a plan names as many


def group(ids: NDArray[Any]) -> tuple[Ints, Ints | None]:
    """Return where each question begins, and the stable order that brings it together if needed."""
    starts = _runs(ids)
    heads = ids[starts[:-1]]
    if len(np.unique(heads)) == len(heads):
        return starts, None
    _, first, which = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first[which], kind="stable")
    return _runs(ids[order]), order


def _runs(ids: NDArray[Any]) -> Ints:
    changes = np.flatnonzero(ids[1:] != ids[:-1]) + 1
    return np.concatenate(([0], changes, [len(ids)])).astype(np.int64)


def small_codes(starts: Ints, answers: NDArray[Any]) -> tuple[Codes, Ints, NDArray[Any] | None]:
    """Return codes, width and names: codes that are small stay, others are numbered by question."""
    if answers.dtype.kind not in "iu":
        raise ColumnError(
            f"answer is {answers.dtype}, not integer codes: use numpy.unique(answers, return_inverse=True)[1], "
            "with -1 for an unreadable one"
        )
    if answers.min() < -1:
        raise ColumnError(f"answer contains {answers.min()}: codes are 0, 1, 2, .. and -1 for an unreadable one")
    if answers.max() < 2**31 - 1:
        width = np.maximum.reduceat(answers, starts[:-1]).astype(np.int64) + 1
        if width.sum() <= 4 * len(answers):
            return answers.astype(np.int32, copy=False), width, None
    codes, rows, width = number_keys(starts, answers.astype(np.uint64), answers >= 0)
    return codes, width, answers[rows]


def number_keys(starts: Ints, keys: NDArray[np.uint64], readable: Bools) -> tuple[Codes, Ints, Ints]:
    """Number each question's distinct keys: codes [R], the rows where each first appears, width [Q]."""
    from steelyard.voting import kernels

    slots, codes, rows, width = _numbering(starts)
    count = kernels.code_keys(starts, keys, readable, slots, codes, rows, width)
    return codes, rows[:count], width


def number_texts(starts: Ints, views: NDArray[np.uint64], readable: Bools) -> tuple[Codes, Ints, Ints] | None:
    """Number each question's distinct texts, like keys, by their views; None if one is longer than its view."""
    from steelyard.voting import kernels

    slots, codes, rows, width = _numbering(starts)
    count = kernels.code_texts(starts, views, readable, SECRETS, slots, codes, rows, width)
    return None if count < 0 else (codes, rows[:count], width)


def _numbering(starts: Ints) -> tuple[Ints, Codes, Ints, Ints]:
    """Arrays for numbering keys: slots to find them by, codes [R], rows [R] and width [Q]."""
    longest, size = int(np.diff(starts).max(initial=1)), int(starts[-1])
    slots = np.empty(1 << longest.bit_length() + 1, np.int64)
    return slots, np.empty(size, np.int32), np.empty(size, np.int64), np.empty(len(starts) - 1, np.int64)


def checked_labels(correct: NDArray[Any]) -> Bools:
    """Return labels as booleans, or say what is wrong with them."""
    if correct.dtype.kind not in "biu" or (correct.dtype.kind != "b" and not np.isin(correct, (0, 1)).all()):
        raise LabelError(f"correct is {correct.dtype} with values other than true and false: give booleans")
    return correct.astype(bool)


def places_among(key: Ints) -> Ints:
    """The place of each entry among those with the same key, in their order.

    >>> places_among(np.array([3, 1, 3, 3]))
    array([0, 0, 1, 2])
    """
    order = np.argsort(key, kind="stable")
    count = np.bincount(key)
    position = np.empty(len(key), np.int64)
    position[order] = np.arange(len(key)) - np.repeat(np.cumsum(count) - count, count)
    return position


def coded_sources(values: NDArray[Any]) -> tuple[Codes, tuple[str, ...]]:
    """Return the code of every response's source [R], and the names by code, in their order.

    >>> coded_sources(np.array(["gpt", "llama", "gpt"]))
    (array([0, 1, 0], dtype=int32), ('gpt', 'llama'))
    """
    missing = sum(value is None or str(value) == "nan" for value in values.tolist())
    if missing:
        raise ColumnError(f"{missing} responses have no source: name one for each")
    texts = np.array([str(value) for value in values.tolist()], dtype=np.str_)
    names, codes = np.unique(texts, return_inverse=True)
    return codes.astype(np.int32), checked_names(names.tolist(), "source")


def checked_names(names: Iterable[str], column: str) -> tuple[str, ...]:
    """Return the names of sources; refuse too many or an empty one, and say where two differ by their case alone.

    >>> checked_names(["gpt", "llama"], "llm")
    ('gpt', 'llama')
    """
    distinct = tuple(names)
    if len(distinct) > MOST_SOURCES:
        raise ColumnError(
            f"{column!r} has {len(distinct):,} different values, and a committee has at most {MOST_SOURCES:,} sources: "
            "choose the column that says who answered, such as the LLM"
        )
    spellings: dict[str, str] = {}
    for name in distinct:
        plain = name.strip().casefold()
        if not plain:
            raise ColumnError(f"{column!r} holds an empty name: name the source of every response")
        first = spellings.setdefault(plain, name)
        if first != name:
            warnings.warn(
                f"the sources {first!r} and {name!r} differ only by case or spaces: they are counted as two; write "
                "them alike if they are one",
                SteelyardWarning,
                stacklevel=4,
            )
    return distinct


def split_size(fraction: float, questions: int) -> int:
    """Return how many of the questions a share of them is; refuse a share that leaves one side empty.

    >>> split_size(0.3, 10)
    3
    """
    count = round(fraction * questions) if 0 < fraction < 1 else 0
    if 0 < count < questions:
        return count
    percent = 5 <= fraction < 100  # 1.5 is not meant as a percentage
    hint = f" (did you mean {fraction / 100:g}?)" if percent else ""
    raise SettingError(
        f"a share of {fraction} of {questions} questions leaves one side empty: "
        f"choose a share between 0 and 1{hint}, or bring more questions"
    )


def ranges(begin: Ints, sizes: Ints) -> Ints:
    """Concatenate begin[q] .. begin[q] + sizes[q] for all q."""
    ends = np.cumsum(sizes)
    rows: Ints = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begin - (ends - sizes), sizes)
    return rows
