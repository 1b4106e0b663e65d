"""Methods: one a file, and the file's name is what the user types (best_of_n.py: best-of-n).

Adding a method is adding a file with one `Method` class; the command line, the evaluation and the
checks of every method find it by walking this package. Files that begin with _ hold shared parts.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from steelyard.errors import PlanError, SettingError, SteelyardError, did_you_mean

if TYPE_CHECKING:
    from steelyard.methods._base import Method

SHOWN = 500  # characters of what is wrong with a plan, which may hold anything


@cache
def method_names() -> tuple[str, ...]:
    """Return the names of all methods, without importing them."""
    modules = (module.name for module in iter_modules([str(Path(__file__).parent)]))
    return tuple(name.replace("_", "-") for name in modules if not name.startswith("_"))


def method_class(name: str) -> type[Method]:
    """Return the class of a method by its name.

    >>> method_class("best-of-n").__name__
    'BestOfN'
    """
    from steelyard.methods._base import Method

    if name not in method_names():
        raise SettingError(f"unknown method {name!r}: {did_you_mean(name, method_names())}")
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    (found,) = (
        item
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, Method) and item.__module__ == module.__name__
    )
    return found


def configured(name: str, settings: dict[str, Any]) -> Method:
    """Make a method by name with some of its settings.

    >>> configured("logit", {"rule": "exact"}).settings()["rule"]
    'exact'
    """
    known = method_class(name)().settings()
    for key in settings:
        if key not in known:
            raise SettingError(f"{name} has no setting {key!r}: {did_you_mean(key, known)}")
    method = method_class(name)(**settings)
    method.check_settings()
    return method


def load(path: str | Path) -> Method:
    """Read a plan back as a fitted method that votes exactly as the one that was saved."""
    from steelyard.plan import read_plan

    plan = read_plan(path)
    try:
        return method_class(plan.method).from_plan(plan)
    except SteelyardError as error:
        raise PlanError(f"{path}: {error!s:.{SHOWN}}") from None
