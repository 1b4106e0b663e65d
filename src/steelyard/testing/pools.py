"""The simulated pools that methods are checked on, and the assertion that all checks share."""

from __future__ import annotations

from functools import cache

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
    return read_labelled(simulate(120, 16, seed=1))


@cache
def voting_pool() -> LabelledPool:
    """The pool that methods vote on."""
    return read_labelled(simulate(150, 16, seed=2))


def visible(method: Method, pool: LabelledPool) -> Pool:
    """The pool as a method may see it when it predicts: only an oracle reads labels."""
    return pool if method.oracle else pool.unlabelled()
