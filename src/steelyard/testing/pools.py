"""The simulated pools that methods are checked on, and the assertion that all checks share."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

import numpy as np

from steelyard.tables.labelled import read_labelled
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.simulated import simulate


def require(condition: object, message: str) -> None:
    """Fail a check unless the condition holds."""
    if not condition:
        raise AssertionError(message)


@cache
def calibration_pool() -> LabelledPool:
    """The pool that methods are fitted on."""
    return _read_only(read_labelled(simulate(120, 16, seed=1)))


@cache
def voting_pool() -> LabelledPool:
    """The pool that methods vote on."""
    return _read_only(read_labelled(simulate(150, 16, seed=2)))


def _read_only(pool: LabelledPool) -> LabelledPool:
    """Make the arrays read-only: all checks share the pool, and a method that modifies it must fail."""
    for field in fields(pool):
        value = getattr(pool, field.name)
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return pool


def visible(method: Method, pool: LabelledPool) -> Pool:
    """The pool as a method may see it when it predicts: only an oracle reads labels."""
    return pool if method.oracle else pool.unlabelled()
