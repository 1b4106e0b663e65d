"""Waiting in tests for what must come: as long as a busy machine needs, and no longer than a quick one does."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

PATIENCE = 300.0  # seconds: only what never comes takes so long
MORE = (1, 4, 16)  # times the seconds that are tried first

Result = TypeVar("Result")


def until(true: Callable[[], object]) -> None:
    """Wait for something that must come."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


def with_more_time(check: Callable[[float], Result], seconds: float) -> Result:
    """Hold a check for which something must come within so many seconds, with more of them where it fails.

    What a busy machine did not do in a second it does in the next, longer try. What is wrong fails in all of them.
    """
    for times in MORE:
        with suppress(AssertionError):
            return check(times * seconds)
    return check(64 * seconds)
