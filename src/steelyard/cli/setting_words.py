"""Settings of a method as they are typed: KEY=VALUE, read as what the setting may be."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import TYPE_CHECKING, Any

from steelyard.foundation.errors import SettingError, did_you_mean

if TYPE_CHECKING:
    from steelyard import Method
    from steelyard.voting.methods.base.setting import Setting


def settings_from(method: type[Method], pairs: list[str] | None) -> dict[str, Any]:
    """Read the settings of a method, each in a text of its own.

    >>> from steelyard.paper import KDEVote
    >>> settings_from(KDEVote, ["bins=20", "bandwidth=none"])
    {'bins': 20, 'bandwidth': None}
    """
    from steelyard.voting.methods.base.setting import settings_of

    known = {setting.name: setting for setting in settings_of(method)}
    read: dict[str, Any] = {}
    for pair in pairs or []:
        key, sep, text = pair.partition("=")
        if not (key and sep):
            raise SettingError(f"cannot set {pair!r}: write KEY=VALUE; {_explained(method)}")
        if key not in known:
            raise SettingError(
                f"{method.name} has no setting {key!r}: {did_you_mean(key, known)}; {_explained(method)}"
            )
        if key in read:
            raise SettingError(f"{key} is set twice: give every setting once")
        read[key] = _value(method, known[key], text)
    return read


def _explained(method: type[Method]) -> str:
    return f"'steelyard methods {method.name}' explains its settings"


def _value(method: type[Method], setting: Setting, text: str) -> Any:
    """The text as the first of the setting's types that can be read from it."""
    for kind, reader in READERS.items():
        if kind in setting.kinds:
            try:
                return reader(text)
            except ValueError:
                continue
    if not any(kind in READERS for kind in setting.kinds):
        raise SettingError(f"{setting.name} is {setting.type_text}, which cannot be typed: set it in Python")
    raise SettingError(f"{setting.name} must be {setting.type_text}, not {text!r}; {_explained(method)}")


def _one_of(**words: bool | None) -> Callable[[str], bool | None]:
    def read(text: str) -> bool | None:
        if text.lower() not in words:
            raise ValueError(text)
        return words[text.lower()]

    return read


def _number(text: str) -> float:
    value = float(text)
    if isnan(value):
        raise ValueError(text)
    return value


READERS: dict[Any, Callable[[str], Any]] = {
    type(None): _one_of(none=None),
    bool: _one_of(true=True, false=False),
    int: int,
    float: _number,
    str: str,
}  # the narrower first
