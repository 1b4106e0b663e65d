"""When to stop sampling: one rule a file, and the file's name is what the plan says (beta.py: beta).

Adding a rule is adding a file with one `Rule` class; plans, the choice for a budget and the checks of every
rule find it by walking this package. Files that begin with _ hold shared parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from steelyard.errors import PlanError, SettingError, SteelyardError, did_you_mean

if TYPE_CHECKING:
    from steelyard.stopping._base import Rule


@cache
def rule_names() -> tuple[str, ...]:
    """Return the names of all stopping rules, without importing them.

    >>> rule_names()
    ('beta', 'confidence', 'fixed')
    """
    modules = (module.name for module in iter_modules([str(Path(__file__).parent)]))
    return tuple(name.replace("_", "-") for name in modules if not name.startswith("_"))


def rule_class(name: str) -> type[Rule]:
    """Return the class of a stopping rule by its name."""
    from steelyard.stopping._base import Rule

    if name not in rule_names():
        raise SettingError(f"unknown stopping rule {name!r}: {did_you_mean(name, rule_names())}")
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    (found,) = (
        item
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, Rule) and item.__module__ == module.__name__
    )
    return found


def rule_from(plain: Mapping[str, Any]) -> Rule:
    """Make the rule that a plan's "stopping" object describes.

    >>> rule_from({"rule": "beta", "cap": 16, "least": 2, "threshold": 0.9})
    Beta(cap=16, least=2, threshold=0.9)
    """
    settings = dict(plain)
    name = settings.pop("rule", None)
    try:
        return rule_class(str(name)).from_plain(settings)
    except SteelyardError as error:
        raise PlanError(f"its stopping rule is damaged: {error}; make it again with 'steelyard plan-budget'") from None
