"""Scores outside [0, 1] among several: they are ranked, and one line says so."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable

import numpy as np

from steelyard.foundation.errors import SteelyardNote
from steelyard.voting.pools.pool import Pool


def noting_scales(pools: Iterable[Pool]) -> Generator[Pool]:
    """Hand on the pools of a table; after the last, note which of several scores leave [0, 1]."""
    ranges: dict[str, tuple[float, float]] = {}
    for pool in pools:
        for v, name in enumerate(pool.origin.parts if pool.parts is not None else ()):
            column = pool.parts[:, v]  # type: ignore[index]
            low, high = ranges.get(name, (np.nan, np.nan))
            ranges[name] = float(np.fmin(low, np.fmin.reduce(column))), float(np.fmax(high, np.fmax.reduce(column)))
        yield pool
    outside = [(name, low, high) for name, (low, high) in ranges.items() if low < 0 or high > 1]
    if not outside:
        return
    name, low, high = outside[0]
    more = len(outside) - 1
    others = f" and {more} other{'s' if more > 1 else ''} are" if more else " is"
    warnings.warn(
        f"{name} ({low:.4g} to {high:.4g}){others} outside [0, 1]: the scores are mixed by their ranks: "
        "among the calibration responses of a plan, and within each question without one",
        SteelyardNote,
        stacklevel=3,
    )
