"""pandas frames are read with and without pyarrow, alike."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import steelyard as sy
from steelyard.tables.sources.opened import lazy_frame

BASE: dict[str, Any] = {
    "question": ["a", "a", "b", "b"],
    "answer": ["4", "5", "4", None],
    "score": [0.5, 0.25, 0.75, np.nan],
    "correct": [True, False, True, False],
}
FRAMES: dict[str, Callable[[], pd.DataFrame]] = {
    "text": lambda: pd.DataFrame(BASE),
    "objects": lambda: pd.DataFrame(BASE).astype(object),
    "categories": lambda: pd.DataFrame(BASE).astype({"question": "category"}),
    "numbers that may be missing": lambda: pd.DataFrame({**BASE, "answer": pd.array([4, 5, 4, None], dtype="Int64")}),
    "floats with NaN": lambda: pd.DataFrame({**BASE, "answer": [4.0, 5.0, 4.0, np.nan]}),
    "texts and numbers in one column": lambda: pd.DataFrame({**BASE, "answer": ["4", 5, 4.0, None]}),
    "steps": lambda: pd.DataFrame({**BASE, "score": [[0.25, 0.5], np.array([0.25]), [0.75], None]}),
    "the question as index": lambda: pd.DataFrame(BASE).set_index("question"),
    "things beside": lambda: pd.DataFrame({**BASE, "at": pd.to_datetime(["2026-01-01"] * 4), "odd": [{1}, 1, 2, 3]}),
}  # fmt: skip


@pytest.fixture(params=[True, False], ids=["with pyarrow", "without pyarrow"])
def _pyarrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.param:
        yield
        return
    # polars looks for it once, when it is imported, and so does pandas, whose strings would then be Arrow's
    monkeypatch.setattr("polars._utils.construction.dataframe._PYARROW_AVAILABLE", False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pd.option_context("mode.string_storage", "python"):
        yield


@pytest.mark.usefixtures("_pyarrow")
@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_read(kind: str) -> None:
    pool = sy.read(FRAMES[kind]())
    assert isinstance(pool, sy.LabelledPool)
    assert (pool.n_questions, pool.n_responses, int(pool.readable.sum())) == (2, 4, 3)
    assert pool.scores is not None
    assert np.array_equal(pool.scores, [0.5, 0.25, 0.75, np.nan], equal_nan=True)


@pytest.mark.usefixtures("_pyarrow")
def test_lists_per_question_are_read() -> None:
    lists = {"completions": [["It is 4", "It is 5"]] * 2, "scores": [np.array([0.5, 0.25])] * 2}
    assert sy.read(pd.DataFrame({"question": ["a", "b"], **lists}), score="scores").n_responses == 4


@pytest.mark.usefixtures("_pyarrow")
def test_two_columns_of_one_name_are_one_line() -> None:
    twice = pd.concat([pd.DataFrame(BASE), pd.DataFrame({"answer": ["7"] * 4})], axis=1)
    with pytest.raises(sy.TableError, match="two columns 'answer': remove or rename one"):
        sy.read(twice)


@pytest.mark.usefixtures("_pyarrow")
def test_no_value_is_lost() -> None:
    frame = pd.DataFrame({"mixed": ["4", 5, 4.5, None], "objects": [{"a": 1}, {"a": "x"}, [1], None]})
    assert lazy_frame(frame).collect()["mixed"].to_list() == ["4", "5", "4.5", None]
    assert lazy_frame(frame).collect()["objects"].to_list() == ['{"a": 1}', '{"a": "x"}', "[1]", None]
