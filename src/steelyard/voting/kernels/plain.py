"""Loops as plain Python for processes that choose them (foundation/plain_loops.py): the same results, bit for bit."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

_ON_LISTS: set[Callable[..., Any]] = set()


def by_index(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare that a loop, which one thread runs, only takes `len` and single elements of its vectors.

    Not compiled it is given lists then: Python reads and writes their elements several times as fast.
    """
    _ON_LISTS.add(function)
    return function


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The loop as it is, as silent about overflow as compiled code."""
    return np.errstate(all="ignore")(_on_lists(function) if function in _ON_LISTS else function)


def _on_lists(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*given: Any) -> Any:
        rows = [each.tolist() if isinstance(each, np.ndarray) else each for each in given]
        result = function(*rows)
        for array, row in zip(given, rows, strict=True):
            if isinstance(array, np.ndarray) and array.flags.writeable:
                array[:] = row
        return result

    return run
