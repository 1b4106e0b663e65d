"""Settings in the manner of scikit-learn: read, changed, shown as an expression, and copied into a fresh method."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, fields
from functools import cache
from inspect import get_annotations, signature
from typing import Any, ClassVar, Self, TypeVar, get_type_hints

import numpy as np

from steelyard.foundation.errors import SettingError, did_you_mean
from steelyard.voting.methods.base.setting import is_a


@dataclass(repr=False, eq=False)
class Configured:
    """A dataclass whose fields of the constructor are settings; it stores them as they are given."""

    name: ClassVar[str]

    def settings(self) -> dict[str, Any]:
        """The constructor's arguments."""
        kind: Any = type(self)
        _check_constructor(kind)
        return {f.name: getattr(self, f.name) for f in _settings(self)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - no setting has settings of its own
        """The same, under the name that scikit-learn knows it by."""
        return self.settings()

    def set_params(self, **params: Any) -> Self:
        """Change settings. What was learned with others is forgotten: fit it again."""
        settings = self.settings()
        for key in params:
            if key not in settings:
                raise SettingError(f"{self.name} has no setting {key!r}: {did_you_mean(key, settings)}")
        if any(value != settings[key] for key, value in params.items()):
            fresh = vars(type(self)(**{**settings, **params}))
            vars(self).clear()
            vars(self).update(fresh)
        return self

    def check_kinds(self) -> None:
        """Refuse a setting that is not of the type of its field."""
        types = get_type_hints(type(self))
        for key, value in self.settings().items():
            if not is_a(_plain(value), types[key]):
                expected = getattr(types[key], "__name__", str(types[key]))
                raise SettingError(f"{key} is {value!r:.40}, which {self.name} cannot use: give it as {expected}")

    def __repr__(self) -> str:
        """An expression that makes the method anew, unfitted: settings that are not the default."""
        changed = [f"{f.name}={_plain(getattr(self, f.name))!r}" for f in _settings(self) if _changed(self, f)]
        return f"{type(self).__name__}({', '.join(changed)})"


M = TypeVar("M", bound=Configured)


def clone(method: M) -> M:
    """Return a method with the same settings that has learned nothing.

    >>> import steelyard as sy
    >>> fitted = sy.LogitVote(rule="exact").fit(sy.read_labelled(sy.simulate(60, 8)))
    >>> fresh = sy.clone(fitted)
    >>> fresh, fresh.fitted_on_ is None
    (LogitVote(rule='exact'), True)
    """
    return type(method)(**deepcopy(method.settings()))


@cache
def _check_constructor(kind: Any) -> None:
    """Refuse a class with settings that are no fields: they would be lost in a copy or a plan."""
    stored = {setting.name for setting in fields(kind)}
    for base in kind.__mro__:
        annotated = get_annotations(base).items() if issubclass(base, Configured) else ()
        lost = [name for name, type_ in annotated if name not in stored and "ClassVar" not in str(type_)]
        if lost:
            raise SettingError(
                f"{base.__name__} is not a dataclass, so {', '.join(lost)} would not be stored: "
                "decorate the class with @dataclass(repr=False, eq=False)"
            )
    takes = set(list(signature(kind.__init__).parameters)[1:])
    if takes != {setting.name for setting in _settings(kind)}:
        raise SettingError(
            f"{kind.__name__} has a constructor of its own: make it a dataclass, its settings fields with a default"
        )


def _settings(method: Any) -> list[Any]:
    return [setting for setting in fields(method) if setting.init]


def _changed(method: Any, setting: Any) -> bool:
    value, usual = getattr(method, setting.name), setting.default
    return type(_plain(value)) is not type(usual) or value != usual


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python, which its text makes again without an import."""
    return value.item() if isinstance(value, np.generic) else value
