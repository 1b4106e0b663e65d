"""What users choose by name: methods, stopping rules, verifier protocols, experiments.

The built-in ones are files of a package, one per file, named as the user types it (voting/methods/best_of_n.py:
best-of-n). Other packages add theirs by entry points, in their pyproject.toml:

    [project.entry-points."steelyard.methods"]
    my-vote = "my_package:MyVote"

Names are listed without importing anything; a thing is imported when it is first asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Generic, TypeVar

from steelyard.foundation.errors import SettingError, SteelyardWarning, did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """The things of one kind, by name.

    `what` names the kind in messages, `folder` holds the built-in ones, which are modules of `package`; `pick` takes
    the thing out of its module, and `check` says what is wrong with one that came from another package.
    """

    def __init__(
        self,
        what: str,
        package: str,
        folder: Path,
        pick: Callable[[ModuleType], T],
        *,
        group: str | None = None,
        check: Callable[[str, object], str | None] = lambda name, thing: None,  # noqa: ARG005
    ) -> None:
        self.what, self.package, self.folder, self.pick, self.group, self.check = (
            what, package, folder, pick, group, check,
        )  # fmt: skip
        self.get = cache(self._get)

    @cached_property
    def built_in(self) -> tuple[str, ...]:
        """The names of the built-in things, in the order of their files."""
        modules = iter_modules([str(self.folder)])
        return tuple(m.name.replace("_", "-") for m in modules if not m.ispkg and not m.name.startswith("_"))

    @cached_property
    def installed(self) -> dict[str, EntryPoint]:
        """What other packages add. A name that is taken, built in or by another package, is left out with a warning."""
        found: dict[str, EntryPoint] = {}
        points = () if self.group is None else entry_points(group=self.group)
        for point in sorted(points, key=lambda each: (each.name, each.value)):
            if point.name in self.built_in:
                taken = f"a built-in {self.what}"
            elif found.get(point.name, point).value != point.value:
                taken = found[point.name].value
            else:
                found[point.name] = point
                continue
            said = f"{point.value} is left out: {point.name!r} is the name of {taken}; give it another name"
            warnings.warn(said, SteelyardWarning, stacklevel=3)
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """All names: the built-in ones first."""
        return (*self.built_in, *self.installed)

    def origin(self, name: str) -> str:
        """The package that a thing comes from."""
        if name not in self.installed:
            return self.package.partition(".")[0]
        point = self.installed[name]
        return point.dist.name if point.dist else point.module.partition(".")[0]

    def _get(self, name: str) -> T:
        if name in self.built_in:
            return self.pick(import_module(f"{self.package}.{name.replace('-', '_')}"))
        if name not in self.installed:
            raise SettingError(f"unknown {self.what} {name!r}: {did_you_mean(name, self.names)}")
        return self._loaded(name, self.installed[name])

    def _loaded(self, name: str, point: EntryPoint) -> T:
        """Import a thing of another package, which may be broken in any way."""
        try:
            thing: T = point.load()
        except Exception as error:  # noqa: BLE001
            raise SettingError(
                f"the {self.what} {name!r} cannot be imported from {point.value} ({type(error).__name__}: {error}): "
                "mend or uninstall the package that adds it"
            ) from None
        wrong = self.check(name, thing)
        if wrong is not None:
            raise SettingError(f"the {self.what} {name!r}, {point.value}, cannot be used: {wrong}")
        return thing


def only_class(base: type[T]) -> Callable[[ModuleType], type[T]]:
    """Take the one class of a module that is a `base` and is defined there."""

    def pick(module: ModuleType) -> type[T]:
        (found,) = (
            item
            for item in vars(module).values()
            if isinstance(item, type) and issubclass(item, base) and item.__module__ == module.__name__
        )
        return found

    return pick


def named_class(base: type) -> Callable[[str, object], str | None]:
    """Say what is wrong with a class of another package, or None."""

    def check(name: str, thing: object) -> str | None:
        if not (isinstance(thing, type) and issubclass(thing, base)):
            return f"it must be a subclass of {base.__module__}.{base.__name__}"
        left = [each for each in dir(thing) if getattr(getattr(thing, each, None), "__isabstractmethod__", False)]
        if left:
            return f"its class must define {' and '.join(left)}"
        if getattr(thing, "name", None) != name:
            return f"its class says name = {getattr(thing, 'name', None)!r}, which must be the name of the entry point"
        return None

    return check
