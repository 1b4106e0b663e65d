"""What is only sampled in a long table is sampled evenly."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.tables.duplicates import RepeatedRows
from steelyard.tables.vote import ENOUGH_MEANS, Decisions


@pytest.mark.parametrize("batches", [3, 10, 11, 50, 1000])
def test_means_come_from_batches_all_over_the_table(batches: int) -> None:
    decisions, size = Decisions(), ENOUGH_MEANS // 10
    for i in range(batches):
        decisions.remember(lambda i=i: np.full(size, i))  # type: ignore[misc]
    used = [int(means[0]) for means in decisions.question_means]
    assert set(np.diff(used)) <= {decisions.step}
    assert used[0] == 0
    assert used[-1] + decisions.step >= batches
    assert sum(map(len, decisions.question_means)) <= ENOUGH_MEANS
    assert len(used) == batches if batches <= 10 else 5 <= len(used) <= 10


def test_repeated_rows_are_looked_for_in_the_first_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.tables.duplicates.INSPECTED_ROWS", 10)
    pool = sy.Pool.from_arrays(question=np.repeat(np.arange(100), 4), answer=np.tile([0, 0, 1, 1], 100))
    repeated = RepeatedRows()
    repeated.inspect(pool)
    repeated.inspect(pool)
    assert (repeated.varied, repeated.doubled) == (4, 4)
