"""What all checks share: simulated pools, settings that are not the default, and the assertion."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

from steelyard.foundation.errors import SteelyardError, SteelyardWarning
from steelyard.tables.labelled import read_labelled
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import Setting, settings_of
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


def other_settings(method: type[Method]) -> dict[str, Any]:
    """Return all settings of a method, each with another value than its default where the method can be fitted so.

    The values follow from the type, default and choices of each setting, within the limits of the method.

    >>> import steelyard as sy
    >>> other_settings(sy.LogitVote)
    {'guard': True, 'rule': 'exact', 'points': 102, 'seed': 1, 'clip': 0.00390625}
    """
    return dict(_other_settings(method))


@cache
def _other_settings(method: type[Method]) -> dict[str, Any]:
    chosen = method().settings()
    for setting in settings_of(method):
        for value in _candidates(setting):
            if value != setting.default and _can_be_fitted(method, {**chosen, setting.name: value}):
                chosen[setting.name] = value
                break
    return chosen


def _candidates(setting: Setting) -> Iterator[Any]:
    """Values that the setting may take by its type; a text is one of its choices."""
    default, kinds = setting.default, setting.kinds
    yield from setting.choices
    if bool in kinds:
        yield not default
    if int in kinds and not isinstance(default, bool):
        number = default if isinstance(default, int) else 0
        yield from (number + 1, number - 1, 2 * number)
    if float in kinds:
        real = float(default) if isinstance(default, float | int) else 0.0
        yield from (2.0 * real, real / 2, 0.5, 1.0, real + 1.0)


def _can_be_fitted(method: type[Method], settings: dict[str, Any]) -> bool:
    """Whether the method accepts the settings; some need several scores, or a closed set of answers."""
    configured = method(**settings)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SteelyardWarning)
            configured.fit(calibration_pool())
    except SteelyardError:
        return False
    return True
