"""Views of texts are the bytes of the texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from steelyard.foundation.text_views import views_of

SHORT = 12
TEXTS = st.lists(st.text(max_size=16), max_size=20)


def expected(text: str) -> tuple[int, bytes]:
    """The length of a text, and as many bytes as its view contains."""
    data = text.encode()
    return len(data), data.ljust(SHORT, b"\0") if len(data) <= SHORT else data[:4]


def seen(views: Any) -> list[tuple[int, bytes]]:
    rows = [row.tobytes() for row in views]
    lengths = [int.from_bytes(row[:4], "little") for row in rows]
    return [(n, row[4:] if n <= SHORT else row[4:8]) for n, row in zip(lengths, rows, strict=True)]


@given(parts=st.lists(TEXTS, min_size=1, max_size=3))
def test_views_have_the_bytes_of_the_texts(parts: list[list[str]]) -> None:
    column = pl.concat([pl.Series(part, dtype=pl.String) for part in parts], rechunk=False)
    views = views_of(column)
    assert views is not None
    assert seen(views) == [expected(text) for part in parts for text in part]


@given(texts=TEXTS, start=st.integers(0, 20), length=st.integers(0, 20))
def test_a_slice_begins_at_its_own_texts(texts: list[str], start: int, length: int) -> None:
    views = views_of(pl.Series(texts, dtype=pl.String).slice(start, length))
    assert views is not None
    assert seen(views) == [expected(text) for text in texts[start : start + length]]


def test_null_takes_a_place() -> None:
    views = views_of(pl.Series(["a", None, "b"]))
    assert views is not None
    assert seen(views[[0, 2]]) == [expected("a"), expected("b")]


def test_other_columns_have_none() -> None:
    assert views_of(pl.Series([1, 2])) is None
    assert views_of(pl.Series(["a", "b"], dtype=pl.Categorical)) is None


def test_views_outlive_their_column() -> None:
    views = views_of(pl.Series([f"{i:012}" for i in range(10_000)]))
    assert views is not None
    assert np.array_equal(views[1234].view(np.uint8)[4:], np.frombuffer(b"000000001234", np.uint8))
