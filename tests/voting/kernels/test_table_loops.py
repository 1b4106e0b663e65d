"""The loops that order rows and look at lines of JSON: their source does what the compiled ones do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from steelyard.voting import kernels
from steelyard.voting.kernels import json_line_shapes as lines
from steelyard.voting.kernels import row_numbers
from tests.tables.test_json_shapes import HOSTILE, PLAIN

SECRET = np.uint64(0x9E3779B97F4A7C15)


@contextmanager
def as_source(monkeypatch: pytest.MonkeyPatch, module: Any, *names: str) -> Iterator[None]:
    with monkeypatch.context() as changed, np.errstate(over="ignore"):
        for name in names:
            changed.setattr(module, name, getattr(module, name).py_func)
        yield


def numbered(keys: Any, checks: Any) -> list[Any]:
    table = np.zeros((64, 3), np.uint64)
    codes, rows = np.zeros(len(keys), np.int32), np.zeros(len(keys), np.int64)
    total = row_numbers.number_rows(keys, checks, table, 0, codes, rows)
    return [total, codes.tolist(), rows.tolist()]


def test_rows_are_numbered_by_the_source_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    keys, checks = (kernels.read_only(rng.integers(0, 4, 60).astype(np.uint64)) for _ in range(2))
    compiled = numbered(keys, checks)
    with as_source(monkeypatch, row_numbers, "number_rows"):
        assert numbered(keys, checks) == compiled
    first: dict[tuple[int, int], int] = {}
    pairs = zip(keys.tolist(), checks.tolist(), strict=True)
    assert compiled[1] == [first.setdefault(pair, len(first)) for pair in pairs]
    assert compiled[0] == len(first)


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("size", [3, 200])  # sorted by insertion, and otherwise
def test_rows_are_ordered_by_the_source_too(size: int, repeated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    question = rng.permutation(np.repeat(np.arange(4, dtype=np.int32), size))
    sample = rng.permutation(len(question)).astype(np.int32) // (2 if repeated else 1)
    for samples in (sample, sample[:0]):
        ends = np.cumsum(np.bincount(question))
        found: list[Any] = []

        def order(ends: Any = ends, samples: Any = samples, found: list[Any] = found) -> None:
            packed = np.zeros(len(question), np.int64)
            found.append((row_numbers.order_rows(question, ends.copy(), samples, packed), packed.tolist()))

        order()
        with as_source(monkeypatch, row_numbers, "order_rows"):
            order()
        assert found[0] == found[1]
        expected = np.lexsort((np.arange(len(question)), samples, question) if len(samples) else (question,))
        assert (np.array(found[0][1]) & 0xFFFFFFFF).tolist() == expected.tolist()
        pairs = set(zip(question.tolist(), samples.tolist(), strict=False))
        assert found[0][0] == (not len(samples) or len(pairs) == len(question))


def shapes(text: bytes, longest: int = 1000, most: int = 50) -> list[Any]:
    known, begins, counts = np.zeros(most, np.uint64), np.zeros(most, np.int64), np.zeros(2, np.int64)
    content = kernels.read_only(np.frombuffer(text, np.uint8))
    levels = np.zeros(lines.DEEPEST + 1, np.int64), np.zeros(lines.DEEPEST + 1, np.bool_)
    plain = lines.line_shapes(content, longest, SECRET, *levels, known, begins, counts)
    return [bool(plain), known.tolist(), begins.tolist(), counts.tolist()]


@pytest.mark.parametrize("line", [*HOSTILE, PLAIN, '{"a": [1, -2.5e3, true, null, "x"], "long name here": {"b": []}}'])
def test_lines_have_the_same_shapes_by_the_source(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join((PLAIN, line, PLAIN, "")).encode()
    compiled = shapes(text), shapes(text, longest=10), shapes(text, most=1)
    names = ("line_shapes", "mixed", "with_name", "is_letter", "is_surrogate")
    with as_source(monkeypatch, lines, *names):
        assert (shapes(text), shapes(text, longest=10), shapes(text, most=1)) == compiled
    assert not compiled[1][0], "longer lines are not plain"
