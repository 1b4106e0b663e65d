"""Tasks at the same time."""

from __future__ import annotations

from threading import Barrier, get_ident

import pytest

from steelyard.foundation.cores import run_together


def test_tasks_run_at_the_same_time_and_the_first_in_this_thread() -> None:
    together = Barrier(3, timeout=60)

    def task() -> int:
        together.wait()
        return get_ident()

    threads = run_together([task] * 3)
    assert threads[0] == get_ident()
    assert len(set(threads)) == 3


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_of_any_task_is_raised_when_all_have_ended(failing: int) -> None:
    ended = []

    def task(number: int) -> None:
        if number == failing:
            raise ZeroDivisionError("this one")
        ended.append(number)

    with pytest.raises(ZeroDivisionError, match="this one"):
        run_together([lambda number=number: task(number) for number in range(3)])  # type: ignore[misc]
    assert sorted(ended) == sorted({0, 1, 2} - {failing})
