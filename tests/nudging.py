"""Another machine's arithmetic on this one: log, exp and their kin wrong by one or two units in the last place.

IEEE 754 fixes + - * / and the square root; log, exp and tanh come from a maths library, and each has its own last bits.
With `NUDGE=2` in the environment (`make nudged`, `make nudged-reproduction`) they are replaced, in numpy, in `math` and
inside the compiled loops, by functions whose results are up to two units in the last place off, in a direction that
depends on the result itself. What passes so depends on no last bit of any maths library.
"""

from __future__ import annotations

import math
import os
import struct
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np

NAMES = ("exp", "expm1", "log", "log1p", "log2", "log10", "tanh")
ODD = 0x9E3779B97F4A7C15  # Knuth's multiplier: neighbouring results go different ways


def nudge(y: Any, ulps: int) -> Any:
    """Move every inexact float64 by -ulps to ulps units in the last place.

    >>> [float(nudge(np.float64(v), 2)) == v for v in (0.0, 1.0, np.inf, 0.1)]
    [True, True, True, False]
    """
    values = np.asarray(y)
    if values.dtype != np.float64:
        return y
    bits = values.view(np.int64) if values.flags.c_contiguous else values.copy().view(np.int64)
    moved = _move_bits()(bits, ulps).view(np.float64)
    return moved if isinstance(y, np.ndarray) else moved[()]


@cache
def _move_bits() -> Callable[[Any, int], Any]:
    """The step in compiled code: as a dozen calls of numpy it would take most of the time of a small fit."""
    import numba

    @numba.vectorize(["int64(int64, int64)"])  # type: ignore[untyped-decorator]
    def move(bits: int, ulps: int) -> int:
        size = bits & 0x7FFFFFFFFFFFFFFF
        if (
            size in (0, 0x3FF0000000000000) or size >= 0x7FF0000000000000
        ):  # 0, 1, infinite, NaN: as every library has them
            return bits
        mixed = (np.uint64(bits) * np.uint64(ODD)) >> np.uint64(61)  # 0 .. 7
        step = ulps if mixed % np.uint64(4) < 2 else 1
        return bits - step if mixed < 4 else bits + step

    return cast(Callable[[Any, int], Any], move)


def nudge_number(y: float, ulps: int) -> float:
    """Move one float as `nudge` does, in a tenth of the time.

    >>> all(nudge_number(v, 2) == nudge(np.float64(v), 2) for v in (0.0, 1.0, -1.0, np.inf, 0.1, -0.3, 5e-324, 1e300))
    True
    """
    if not math.isfinite(y) or y == 0 or abs(y) == 1:
        return y
    (bits,) = struct.unpack("<q", struct.pack("<d", y))
    mixed = (bits * ODD % 2**64) >> 61
    step = (-1 if mixed < 4 else 1) * (ulps if mixed % 4 < 2 else 1)
    return float(struct.unpack("<d", struct.pack("<q", bits + step))[0])


def _array_function(name: str, ulps: int) -> Callable[..., Any]:
    true = getattr(np, name)

    def nudged(x: Any, *args: Any, out: Any = None, **words: Any) -> Any:
        y = nudge(true(x, *args, **words), ulps)
        if out is None:
            return y
        out[...] = y
        return out

    nudged.__name__ = name
    return nudged


def _number_function(name: str, ulps: int) -> Callable[..., Any]:
    true = getattr(math, name)

    def nudged(x: float, *base: float) -> float:
        return nudge_number(float(true(x, *base)), ulps)

    return nudged


def _compile(function: Callable[..., Any], true: Callable[..., Any], ulps: int) -> None:
    """Teach numba a nudged function: there the direction is the fraction of a multiple of the result."""
    from numba.extending import overload, register_jitable

    @register_jitable  # type: ignore[untyped-decorator]
    def moved(y: float) -> float:
        if y == 0.0 or abs(y) == 1.0 or not np.isfinite(y):
            return y
        part = abs(y) * 7919.0
        return float(y * (1.0 + (ulps if part - np.floor(part) < 0.5 else -ulps) * 2.0**-52))

    @overload(function, strict=False)  # type: ignore[untyped-decorator]
    def compiled(x: Any) -> Any:
        return lambda x: moved(true(x))


def start(ulps: int) -> None:
    """Nudge from here on. Call it before steelyard is imported, so that its loops are compiled with it."""
    import numba

    numba.config.CACHE_DIR = str(Path(sys.prefix) / f"nudged-{ulps}")  # apart from the true loops
    numba.njit(lambda x: np.exp(x) + math.log(x))(1.0)  # numba takes stock of numpy when it first compiles
    for module, make in ((np, _array_function), (math, _number_function)):
        for name in NAMES:
            true, nudged = getattr(module, name), make(name, ulps)
            _compile(nudged, true, ulps)
            setattr(module, name, nudged)


if os.environ.get("NUDGE"):
    start(int(os.environ["NUDGE"]))
