"""Loops over views of texts find what polars finds in the texts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.answers.reader import _INTEGER, _without_integers
from steelyard.foundation.text_views import views_of
from steelyard.tables.row_order import _run_starts
from steelyard.voting.kernels.codes import code_keys
from steelyard.voting.kernels.texts import INLINE, code_texts, find_integers, run_starts
from steelyard.voting.pools.arrays import SECRETS

LONG = "a text of more than twelve bytes"
RUNS = st.lists(st.sampled_from(["", "a", "b", "abcdefghijkl", "abcdefghijkm", LONG, LONG + "!"]), max_size=30)
NUMBERS = st.one_of(
    st.integers(-(10**18), 10**18).map(str),
    st.integers(-200, 200).map(str),
    st.text("0123456789-+ ._e\n١²", max_size=18),
    st.none(),
)
both = pytest.mark.parametrize("source", [False, True], ids=["compiled", "source"])


def loop(function: Any, source: bool) -> Any:
    return function.py_func if source else function


@both
@given(texts=st.lists(NUMBERS, max_size=20).map(lambda texts: [text for text in texts if text is not None]))
def test_integers_are_those_of_the_pattern(source: bool, texts: list[str]) -> None:
    views, found = views_of(pl.Series(texts, dtype=pl.String)), np.empty(len(texts), bool)
    loop(find_integers, source)(views, found)
    short = [len(text.encode()) <= INLINE for text in texts]
    matched = [re.fullmatch(_INTEGER[1:-1], text) is not None for text in texts]
    assert found.tolist() == [a and b for a, b in zip(short, matched, strict=True)]


@given(texts=st.lists(NUMBERS, max_size=20))
def test_what_is_left_without_integers_does_not_depend_on_views(texts: list[str | None]) -> None:
    column = pl.Series("answer", texts, dtype=pl.String)
    assert _without_integers(column).equals(column.filter(~column.str.contains(_INTEGER)))


@both
@given(texts=RUNS)
def test_runs_begin_where_texts_change(source: bool, texts: list[str]) -> None:
    views, starts = views_of(pl.Series(texts, dtype=pl.String)), np.empty(len(texts), np.int64)
    count = loop(run_starts, source)(views, np.empty(0, np.int64), starts)
    expected = [i for i in range(len(texts)) if i == 0 or texts[i] != texts[i - 1]]
    if count < 0:
        assert any(len(text) > INLINE for text in texts)
    else:
        assert starts[:count].tolist() == expected


@given(texts=st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", LONG, LONG + "!"])), max_size=30))
def test_runs_of_long_texts_and_null_are_found_too(texts: list[str | None]) -> None:
    column = pl.Series("question", texts, dtype=pl.String)
    expected = [i for i in range(len(texts)) if i == 0 or texts[i] != texts[i - 1]]
    assert _run_starts(column).tolist() == expected
    assert _run_starts(pl.concat([column, column.head(0)], rechunk=False)).tolist() == expected


@given(parts=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=5))
def test_long_texts_at_the_same_place_of_different_chunks_differ(parts: list[list[int]]) -> None:
    chunks = [pl.Series("question", [f"question-{i:05}" for i in part]) for part in parts]
    numbers = [i for part in parts for i in part]
    expected = [i for i in range(len(numbers)) if i == 0 or numbers[i] != numbers[i - 1]]
    assert _run_starts(pl.concat(chunks, rechunk=False)).tolist() == expected


@both
@given(
    samples=st.lists(st.integers(-3, 3), min_size=1, max_size=12), texts=st.lists(st.sampled_from("ab"), max_size=12)
)
def test_runs_are_only_found_where_the_samples_of_each_rise(source: bool, samples: list[int], texts: list[str]) -> None:
    size = min(len(samples), len(texts))
    views, starts = views_of(pl.Series(texts[:size], dtype=pl.String)), np.empty(size, np.int64)
    count = loop(run_starts, source)(views, np.array(samples[:size], np.int64), starts)
    rising = all(texts[i] != texts[i - 1] or samples[i] > samples[i - 1] for i in range(1, size))
    assert count == (sum(i == 0 or texts[i] != texts[i - 1] for i in range(size)) if rising else -1)


@both
@given(
    questions=st.lists(
        st.lists(st.sampled_from(["", "a", "b", "ab", "abcdefghijkl", "abcdefghijkm", None]), max_size=9)
    ),
    long=st.integers(-1, 9),
)
def test_texts_are_numbered_like_keys(source: bool, questions: list[list[str | None]], long: int) -> None:
    texts = [text for question in questions for text in question]
    if 0 <= long < len(texts):
        texts[long] = LONG
    column = pl.Series("answer", texts, dtype=pl.String)
    starts = np.cumsum([0] + [len(question) for question in questions])
    readable = column.is_not_null().to_numpy()

    def numbered(function: Any, *keys: Any) -> tuple[int, list[int], list[int], list[int]]:
        code, rows = np.empty(len(texts), np.int32), np.empty(len(texts), np.int64)
        width = np.empty(len(questions), np.int64)
        count = function(starts, keys[0], readable, *keys[1:], np.empty(64, np.int64), code, rows, width)
        return count, code.tolist(), rows[: max(count, 0)].tolist(), width.tolist()

    with np.errstate(over="ignore"):
        found = numbered(loop(code_texts, source), views_of(column), SECRETS)
    if LONG in texts:
        assert found[0] == -1
    else:
        assert found == numbered(code_keys, column.hash().to_numpy())
