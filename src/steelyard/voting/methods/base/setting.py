"""The settings of a method: what each is called, what it may be, what it is without being set, and what it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from steelyard.voting.methods.base.configured import Configured

T = TypeVar("T")


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
    def told(self) -> str:
        """Its types in words.

        >>> Setting("bandwidth", (float, type(None)), None, "").told
        'float or none'
        """
        return " or ".join(
            "none" if kind is type(None) else getattr(kind, "__name__", str(kind)) for kind in self.kinds
        )


def settings_of(method: type[Configured]) -> tuple[Setting, ...]:
    """All settings of a method, in the order of its constructor."""
    hints, defaults = get_type_hints(method), method().settings()
    return tuple(
        Setting(
            each.name,
            _kinds(hints[each.name]),
            defaults[each.name],
            str(each.metadata.get("help", "")),
            tuple(each.metadata.get("choices", ())),
        )
        for each in fields(method)
        if each.init
    )


def _kinds(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
