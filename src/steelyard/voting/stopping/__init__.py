"""When to stop sampling: the votes after every sample, and rules that look at them. No rule sums a weight.

Adding a rule is adding a file with one `Rule` class to `rules/`, or an entry point of the group `steelyard.stopping` in
another package; plans, the choice for a budget and the checks of every rule find it by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import PlanError, SteelyardError
from steelyard.foundation.registry import Registry, named_class, only_class
from steelyard.voting.stopping.stopping_rule import Rule

REGISTRY: Registry[type[Rule]] = Registry(
    "stopping rule", f"{__name__}.rules", Path(__file__).parent / "rules",
    only_class(Rule),  # type: ignore[type-abstract]
    group="steelyard.stopping", check=named_class(Rule),
)  # fmt: skip


def rule_names() -> tuple[str, ...]:
    """Return the names of all stopping rules, those of other packages included.

    >>> rule_names()
    ('bayes-factor', 'beta', 'certificate', 'confidence', 'esc', 'fixed')
    """
    return REGISTRY.names


def rule_class(name: str) -> type[Rule]:
    """Return the class of a stopping rule by its name.

    >>> rule_class("beta").__name__
    'Beta'
    """
    return REGISTRY.get(name)


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
