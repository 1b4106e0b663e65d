"""How a loop is compiled, or runs as plain Python (foundation/cores.py) with the same results, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.cores import plain_loops

_ON_LISTS: set[Callable[..., Any]] = set()
Scalar = TypeVar("Scalar", bound=np.generic)


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
    def run(*arguments: Any) -> Any:
        rows = [argument.tolist() if isinstance(argument, np.ndarray) else argument for argument in arguments]
        result = function(*rows)
        for array, row in zip(arguments, rows, strict=True):
            if isinstance(array, np.ndarray) and array.flags.writeable:
                array[:] = row
        return result

    return run


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without the interpreter lock; cache the machine code where a folder is writable.

    Where the process has chosen plain loops nothing is compiled.
    """
    if plain_loops():
        return plain(function)
    import numba

    try:
        return numba.njit(nogil=True, cache=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # numba found no writable place for its cache
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a view that cannot be written.

    >>> read_only(np.zeros(2)).flags.writeable
    False
    """
    view = array.view()
    view.flags.writeable = False
    return view
