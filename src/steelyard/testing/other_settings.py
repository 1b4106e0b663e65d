"""Settings that are not the default, derived from the type, default and choices of each, within the method's limits."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

from steelyard.foundation.errors import SteelyardError, SteelyardWarning
from steelyard.testing.pools import calibration_pool
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import Setting, settings_of


def other_settings(method: type[Method]) -> dict[str, Any]:
    """Return all settings of a method, each with another value than its default where the method can be fitted so.

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
