"""The settings of a method, each with its types, default and meaning, and checks of single values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from steelyard.foundation.errors import SettingError

T = TypeVar("T")
FARTHEST = 35.0  # the evidence of a score within 1e-15 of 0 or 1, the narrowest clip
MOST_FOLDS, MOST_ERRORS = 1000, 1e6


def setting(default: T, meaning: str, choices: Sequence[T] = ()) -> T:
    """A field of a method that users set; `meaning` is its line in `steelyard methods NAME`, `choices` its values."""
    return field(default=default, metadata={"help": meaning, "choices": tuple(choices)})


@dataclass(frozen=True)
class Setting:
    """One setting of a method."""

    name: str
    kinds: tuple[Any, ...]  # types, NoneType among them where None is allowed
    default: Any
    meaning: str  # empty: its author says nothing
    choices: tuple[Any, ...] = ()  # every allowed value, where the author lists them

    @property
    def type_text(self) -> str:
        """Its types in words.

        >>> Setting("bandwidth", (float, type(None)), None, "").type_text
        'float or none'
        """
        return " or ".join(
            "none" if kind is type(None) else getattr(kind, "__name__", str(kind)) for kind in self.kinds
        )


def settings_of(method: type[Any]) -> tuple[Setting, ...]:
    """All settings of a method, in the order of its constructor."""
    hints, defaults = get_type_hints(method), method().settings()
    return tuple(
        Setting(
            field_.name,
            _kinds(hints[field_.name]),
            defaults[field_.name],
            str(field_.metadata.get("help", "")),
            tuple(field_.metadata.get("choices", ())),
        )
        for field_ in fields(method)
        if field_.init
    )


def _kinds(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def check_seed(seed: int) -> None:
    """Refuse a seed that no generator takes."""
    if not 0 <= seed < 2**63:
        raise SettingError(f"seed must be 0 or more and below 2^63, not {seed}")


def check_folds(folds: int, se_tolerance: float) -> None:
    """Refuse a cross-validation that cannot be done, or that would never end."""
    if not 2 <= folds <= MOST_FOLDS:
        raise SettingError(f"folds must be 2 or more and at most {MOST_FOLDS}, not {folds}")
    if not 0 <= se_tolerance <= MOST_ERRORS:
        raise SettingError(f"se_tolerance must be 0 or more and at most {MOST_ERRORS:g}, not {se_tolerance}")


def within(low: float, high: float, *values: ArrayLike) -> bool:
    """Whether all values are there, no NaN, and lie between two bounds.

    >>> within(0, 1, 0.5, [0.0, 1.0]), within(0, 1, np.inf), within(0, 1, [np.nan])
    (True, False, False)
    """
    return all(bool(np.all((np.asarray(value) >= low) & (np.asarray(value) <= high))) for value in values)


def is_a(value: Any, kind: Any) -> bool:
    """Whether a value, one read from JSON perhaps, is of the type that a field is annotated with."""
    if get_args(kind) and get_origin(kind) not in (np.ndarray, dict):
        return any(is_a(value, part) for part in get_args(kind))
    plain = get_origin(kind) or kind
    if plain is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, plain) and isinstance(value, bool) == (plain is bool)
