"""A registry of everything that users choose by name: methods, stopping rules, verifier protocols, experiments.

Built-in entries are modules of a package, one per file, and the file name is the name users type
(voting/methods/best_of_n.py: best-of-n). Other packages add entries by entry points in their pyproject.toml:

    [project.entry-points."steelyard.methods"]
    my-vote = "my_package:MyVote"

Names are listed without importing anything; an entry is imported on first use.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from dataclasses import KW_ONLY, dataclass
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Generic, TypeVar

from steelyard.foundation.errors import SettingError, SteelyardWarning, did_you_mean
from steelyard.foundation.lazy_names import quick_import

T = TypeVar("T")


@dataclass(eq=False)
class Registry(Generic[T]):
    """The entries of one kind, by name.

    `noun` is the kind in messages. `folder` has the built-in entries, which are modules of `package`, and may have
    modules in `shared` that are no entries; `pick` returns the entry of a module, and `check` returns what is wrong
    with an entry of another package, or None.
    """

    noun: str
    package: str
    folder: Path
    pick: Callable[[ModuleType], T]
    _: KW_ONLY
    group: str | None = None
    shared: Collection[str] = ()
    check: Callable[[str, object], str | None] = lambda name, thing: None  # noqa: ARG005

    def __post_init__(self) -> None:
        self.get = cache(self._get)

    @cached_property
    def built_in(self) -> tuple[str, ...]:
        """The names of the built-in entries, in the order of their files."""
        modules = [m.name for m in iter_modules([str(self.folder)]) if not m.ispkg and not m.name.startswith("_")]
        return tuple(name.replace("_", "-") for name in modules if name not in self.shared)

    @cached_property
    def installed(self) -> dict[str, EntryPoint]:
        """The entry points of other packages; one whose name is already in use is ignored with a warning."""
        installed: dict[str, EntryPoint] = {}
        points = () if self.group is None else entry_points(group=self.group)
        for point in sorted(points, key=lambda point: (point.name, point.value)):
            if point.name in self.built_in:
                owner = f"a built-in {self.noun}"
            elif installed.get(point.name, point).value != point.value:
                owner = installed[point.name].value
            else:
                installed[point.name] = point
                continue
            message = f"{point.value} is ignored: {point.name!r} is the name of {owner}; give it another name"
            warnings.warn(message, SteelyardWarning, stacklevel=3)
        return installed

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the built-in ones first."""
        return (*self.built_in, *self.installed)

    def origin(self, name: str) -> str:
        """Return the package that an entry comes from."""
        if name not in self.installed:
            return self.package.partition(".")[0]
        point = self.installed[name]
        return point.dist.name if point.dist else point.module.partition(".")[0]

    def _get(self, name: str) -> T:
        if name in self.built_in:
            return self.pick(quick_import(f"{self.package}.{name.replace('-', '_')}"))
        if name not in self.installed:
            raise SettingError(f"unknown {self.noun} {name!r}: {did_you_mean(name, self.names)}")
        return self._load(name, self.installed[name])

    def _load(self, name: str, point: EntryPoint) -> T:
        """Import an entry of another package, which may fail in any way."""
        try:
            thing: T = point.load()
        except Exception as error:  # noqa: BLE001
            raise SettingError(
                f"the {self.noun} {name!r} cannot be imported from {point.value} ({type(error).__name__}: {error}): "
                "fix or uninstall the package that adds it"
            ) from None
        wrong = self.check(name, thing)
        if wrong is not None:
            raise SettingError(f"the {self.noun} {name!r}, {point.value}, cannot be used: {wrong}")
        return thing


def only_class(base: type[T]) -> Callable[[ModuleType], type[T]]:
    """Return a function that picks the one subclass of `base` defined in a module."""

    def pick(module: ModuleType) -> type[T]:
        classes = (item for item in vars(module).values() if isinstance(item, type) and issubclass(item, base))
        (own,) = (item for item in classes if item.__module__ == module.__name__)
        return own

    return pick


def named_class(base: type) -> Callable[[str, object], str | None]:
    """Return a function that checks a class of another package: it returns what is wrong, or None."""

    def check(name: str, thing: object) -> str | None:
        if not (isinstance(thing, type) and issubclass(thing, base)):
            return f"it must be a subclass of {base.__module__}.{base.__name__}"
        missing = [
            member for member in dir(thing) if getattr(getattr(thing, member, None), "__isabstractmethod__", False)
        ]
        if missing:
            return f"its class must define {' and '.join(missing)}"
        if getattr(thing, "name", None) != name:
            return (
                f"its class has name = {getattr(thing, 'name', None)!r}, which must equal the name of the entry point"
            )
        return None

    return check
