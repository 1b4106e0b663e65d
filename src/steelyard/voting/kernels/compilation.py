"""How a loop is compiled, or runs as plain Python (foundation/cores.py) with the same results, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper, wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.cores import plain_loops
from steelyard.voting.kernels.machine_code import Failed, kinds_of, machine_code

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


class Loop:
    """A loop that numba compiles, without the interpreter lock, for the types with which it is called.

    numba is imported by the first call, and caches the machine code where a folder is writable.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        update_wrapper(self, function)

    @cached_property
    def dispatcher(self) -> Callable[..., Any]:
        """The loop as numba has it."""
        import numba

        try:
            return numba.njit(nogil=True, cache=True)(self.py_func)  # type: ignore[no-any-return]
        except RuntimeError:  # numba found no writable place for its cache
            return numba.njit(nogil=True)(self.py_func)  # type: ignore[no-any-return]

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where another loop calls it."""
        return self.dispatcher._numba_type_  # type: ignore[attr-defined]

    def __reduce__(self) -> str:
        return self.__name__  # type: ignore[attr-defined, no-any-return]

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)


class StandaloneLoop(Loop):
    """A loop whose machine code is stored by ourselves, and loaded without numba (machine_code.py).

    Arrays that are not contiguous are counted by numba, which compiles the loop for them in every process.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.by_kinds: dict[object, Callable[..., Any]] = {}

    @cached_property
    def dispatcher(self) -> Callable[..., Any]:
        """The loop as numba has it: without memory of its own, and without numba's cache.

        That would not notice a change in a loop that this one calls.
        """
        import numba

        return numba.njit(nogil=True, _nrt=False)(self.py_func)  # type: ignore[no-any-return]

    def __call__(self, *arguments: Any) -> Any:
        kinds = kinds_of(arguments)
        code = self.by_kinds.get(kinds)
        if code is None:
            code = self.by_kinds[kinds] = (kinds and machine_code(self, kinds)) or self.dispatcher
        result = code(*arguments)
        return self.dispatcher(*arguments) if result is Failed else result


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop when it is first called; where the process has chosen plain loops nothing is compiled."""
    return plain(function) if plain_loops() else Loop(function)


def standalone(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop like `compiled`, so that later processes can call it without importing numba.

    Such a loop allocates nothing: arrays to work in are among its arguments. It returns a number or nothing. It is not
    checked whether an array that it writes may be written.
    """
    if function.__closure__:
        raise TypeError(f"{function.__name__} uses values of the function around it: pass them as arguments")
    return plain(function) if plain_loops() else StandaloneLoop(function)


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a view that cannot be written.

    >>> read_only(np.zeros(2)).flags.writeable
    False
    """
    view = array.view()
    view.flags.writeable = False
    return view
