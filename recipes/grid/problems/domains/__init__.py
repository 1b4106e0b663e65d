"""One file a domain; each offers `TEMPLATES`, and adding a domain is adding a file."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from random import Random

from recipes.grid.problems.work import Asked, Work

Template = Callable[[Random, int, Work], Asked]

BY_DOMAIN: dict[str, tuple[Template, ...]] = {
    module.name: import_module(f"{__name__}.{module.name}").TEMPLATES
    for module in sorted(iter_modules(__path__), key=lambda module: module.name)
}
