"""Which responses the verifier reads: rules that ask for what can still change the verdict. No rule sums a weight.

Adding a rule is adding a file with one `AskingRule` class to `rules/`; the replay, the command line and the checks of
every rule find it by themselves.
"""

from __future__ import annotations

from pathlib import Path

from steelyard.foundation.registry import Registry, named_class, only_class
from steelyard.voting.on_demand.base_rule import AskingRule

REGISTRY: Registry[type[AskingRule]] = Registry(
    "asking rule", f"{__name__}.rules", Path(__file__).parent / "rules",
    only_class(AskingRule),  # type: ignore[type-abstract]
    group="steelyard.on_demand", check=named_class(AskingRule),
)  # fmt: skip


def asking_names() -> tuple[str, ...]:
    """Return the names of all asking rules.

    >>> asking_names()
    ('exact', 'expected')
    """
    return REGISTRY.names


def asking_rule(name: str) -> AskingRule:
    """Return an asking rule by its name.

    >>> asking_rule("exact").name
    'exact'
    """
    return REGISTRY.get(name)()
