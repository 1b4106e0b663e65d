"""Methods, one per file: each gives every response a weight. Counting, fitting and files are the work of other modules.

Adding a method is adding a file here with one `Method` class, or an entry point of the group `steelyard.methods` in
another package; the command line, the evaluation, the reports and the checks of every method find it by themselves.
What all methods share is in `base/`.
"""

from __future__ import annotations

import re
import warnings
from copy import deepcopy
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from steelyard.foundation.errors import NothingToLearnError, PlanError, SteelyardError, SteelyardWarning

if TYPE_CHECKING:
    from steelyard.foundation.registry import Registry
    from steelyard.voting.methods.base.method import Method
    from steelyard.voting.pools.pool import Pool

SHOWN = 500  # characters of an error about a plan, which may hold anything


@cache
def registry() -> Registry[type[Method]]:
    """All methods by name."""
    from steelyard.foundation.registry import Registry, named_class, only_class
    from steelyard.voting.methods.base.method import Method

    folder = Path(__file__).parent
    pick, wrong = only_class(Method), named_class(Method)  # type: ignore[type-abstract]

    def check(name: str, thing: object) -> str | None:
        return wrong(name, thing) or problem_of(cast(type[Method], thing))

    return Registry("method", __name__, folder, pick, group="steelyard.methods", check=check)


def problem_of(kind: type[Method]) -> str | None:
    """Say what is wrong with a method of another package, or None."""
    for field in fields(kind):
        if field.init and field.default is MISSING and field.default_factory is MISSING:
            return f"its setting {field.name!r} must have a default"
    if kind.colour is not None and not re.fullmatch("#[0-9a-fA-F]{6}", str(kind.colour)):
        return f"its colour must be written as #0072b2, not {kind.colour!r}"
    return None


def method_names() -> tuple[str, ...]:
    """Return the names of all methods, those of other packages included.

    >>> "best-of-n" in method_names()
    True
    """
    return registry().names


def method_class(name: str) -> type[Method]:
    """Return the class of a method by its name.

    >>> method_class("best-of-n").__name__
    'BestOfN'
    """
    return registry().get(name)


def default_method(pool: Pool) -> str:
    """Return the name of the method that suits a pool: `committee` where it has two sources or more.

    >>> from steelyard import Pool
    >>> default_method(Pool.from_arrays(question=[0, 0], answer=[4, 9]))
    'calibrated'
    >>> default_method(Pool.from_arrays(question=[0, 0], answer=[4, 9], source=["gpt", "llama"]))
    'committee'
    """
    return "committee" if len(pool.sources) > 1 else "calibrated"


def configured(name: str, settings: dict[str, Any]) -> Method:
    """Make a method by name with some of its settings.

    >>> configured("logit", {"rule": "exact"}).settings()["rule"]
    'exact'
    """
    method = method_class(name)().set_params(**settings)
    method.check_settings()
    return method


def fit_or_majority(method: Method, cal: Pool, n: int | None = None) -> Method:
    """Return a fitted copy of the method; the majority vote, with a warning, where there is nothing to learn."""
    try:
        return deepcopy(method).fit(cal, n=n)
    except NothingToLearnError as nothing:
        warnings.warn(str(nothing), SteelyardWarning, stacklevel=3)
        return method_class("majority")().fit(cal, n=n)


def load(path: str | Path) -> Method:
    """Read a plan back as a fitted method that votes exactly as the one that was saved.

    >>> import steelyard as sy
    >>> sy.LogitVote(rule="exact").fit(sy.read_labelled(sy.simulate(60, 8))).save("plan.json")
    >>> load("plan.json")
    LogitVote(rule='exact')
    """
    from steelyard.voting.methods.base.plan import read_plan
    from steelyard.voting.methods.base.plan_loading import method_from_plan

    plan = read_plan(path)
    try:
        kind = method_class(plan.method)
        if plan.made_by != kind.made_by():
            raise PlanError(
                f"it was made by {plan.made_by or 'Steelyard'}, and the method {plan.method!r} is now that of "
                f"{kind.made_by() or 'Steelyard'}: register your class by an entry point with a name of its own"
            )
        return method_from_plan(kind, plan)
    except SteelyardError as error:
        raise PlanError(f"{path}: {error!s:.{SHOWN}}") from None
