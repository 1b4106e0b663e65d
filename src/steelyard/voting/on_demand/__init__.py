"""Which responses the verifier reads: rules that ask for what can still change the verdict. No rule sums a weight.

Adding a rule is adding a file with one `AskingRule` class to `rules/`; the replay, the command line and the checks of
every rule find it by themselves.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.foundation.registry import Registry
    from steelyard.voting.on_demand.base_rule import AskingRule


@cache
def registry() -> Registry[type[AskingRule]]:
    """All asking rules by name."""
    from steelyard.foundation.registry import Registry, named_class, only_class
    from steelyard.voting.on_demand.base_rule import AskingRule

    folder = Path(__file__).parent / "rules"
    pick, check = only_class(AskingRule), named_class(AskingRule)  # type: ignore[type-abstract]
    return Registry("asking rule", f"{__name__}.rules", folder, pick, group="steelyard.on_demand", check=check)


def asking_names() -> tuple[str, ...]:
    """Return the names of all asking rules.

    >>> asking_names()
    ('exact', 'expected')
    """
    return registry().names


def asking_rule(name: str) -> AskingRule:
    """Return an asking rule by its name.

    >>> asking_rule("exact").name
    'exact'
    """
    return registry().get(name)()
