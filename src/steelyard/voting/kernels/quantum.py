"""How loops are compiled, and the quantum in which they add.

Sums are exact. Weights are rounded to a multiple of 2^-36 as they are added (finer in a question whose
weights are all tiny, coarser where one is huge), so a total below 2^17 carries no rounding error at
all: votes do not depend on the order of the responses, ties are true ties, and calibration agrees
with the vote to the last bit.
"""

from collections.abc import Callable
from math import log2
from typing import Any

import numpy as np

from steelyard.foundation.plain_loops import plain_loops
from steelyard.voting.kernels.plain import plain

# Adding and subtracting 1.5 * 2^(52-36) rounds a float64 to a multiple of 2^-36.
QUANTIZER = 1.5 * 2.0**16
TINY, HUGE = 2.0**-10, 2.0**15  # the largest value of a question for which that quantum is right


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


@compiled
def quantum_for(largest):  # type: ignore[no-untyped-def]
    """The constant that rounds values up to `largest` so that thousands of them add exactly."""
    if TINY <= largest <= HUGE or not 0 < largest < np.inf:
        return QUANTIZER
    return QUANTIZER * 2.0 ** np.ceil(log2(largest))  # as compiled; numpy's log2 may have other last bits
