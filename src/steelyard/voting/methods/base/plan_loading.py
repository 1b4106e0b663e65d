"""A fitted method made from a plan, with what the plan holds beside the method: mix, stopping, cascade and asking."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_type_hints

from steelyard.foundation.errors import PlanError
from steelyard.voting.confidence.drift import MOST_REFERENCES
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.plan import Plan
from steelyard.voting.methods.base.setting import FARTHEST, is_a, within

MOST_DRAWN = 1_000_000  # samples per question


def method_from_plan(kind: type[Method], plan: Plan) -> Method:
    """Make the method a plan describes; every value must be there and of its type."""
    blank = kind()
    settings = _with_added(kind, plan.settings, blank.settings())
    learned = _with_added(kind, plan.learned, blank.learned())
    plan = replace(plan, settings=settings, learned=learned)
    for title, has, needs in (
        ("settings", settings, blank.settings()),
        ("learned values", learned, blank.learned()),
    ):
        if set(has) != set(needs):
            expected, actual = sorted(needs), sorted(has)
            raise PlanError(f"{kind.name} has the {title} {expected}, this plan {actual!r:.200}: fit it again")
    types = get_type_hints(kind)
    for key, value in {**plan.settings, **plan.learned}.items():
        missing = value is None and key in plan.learned and plan.fitted_on is not None
        if missing or not is_a(value, types[key]):
            raise PlanError(f"{key} is {value!r:.40}, which {kind.name} cannot use: fit the plan again")
    method = kind(**plan.settings)
    method.check_settings()
    for key, value in plan.learned.items():
        setattr(method, key, value)
    reference = plan.fitted_on.reference_scores if plan.fitted_on else ()
    if len(reference) > MOST_REFERENCES or not within(-FARTHEST, FARTHEST, reference):
        raise PlanError(f"its reference scores are not those of at most {MOST_REFERENCES} questions")
    method.fitted_on_ = plan.fitted_on
    _add_budget_and_mix(method, plan)
    if plan.fitted_on is not None or not kind.learns:
        method.check_learned()
    return method


def _add_budget_and_mix(method: Method, plan: Plan) -> None:
    """Add what a plan holds beside the learned values; most plans hold nothing of it, and load none of its modules."""
    method.stopping_ = method.cascade_ = method.asking_ = method.samples_ = method.mix_ = None
    if plan.stopping is not None:
        from steelyard.voting.stopping import rule_from

        method.stopping_ = rule_from(plan.stopping)
    if plan.cascade is not None:
        from steelyard.voting.stopping.cascade import Cascade

        method.cascade_ = Cascade.from_plain(plan.cascade)
    if plan.asking is not None:
        from steelyard.voting.on_demand.asking import Asking

        method.asking_ = Asking.from_plain(plan.asking)
    if plan.samples is not None:
        method.samples_ = _checked_samples(plan.samples)
    if plan.mix is not None:
        from steelyard.voting.fitting.mixing import Mix

        method.mix_ = Mix.read(plan.mix)


def _checked_samples(samples: dict[str, Any]) -> dict[str, int]:
    """Return the numbers of samples that a plan draws, or refuse those that cannot be."""
    if not samples or any(type(n) is not int or not 1 <= n <= MOST_DRAWN for n in samples.values()):
        raise PlanError(
            f"its numbers of samples are damaged ({samples!r:.60}): make it again with 'steelyard plan-budget'"
        )
    return samples


def _with_added(kind: type[Method], values: dict[str, Any], blank: dict[str, Any]) -> dict[str, Any]:
    """Add the fields that the method has gained since such plans were made, all of them or none."""
    since = {key: value for key, value in blank.items() if key in kind.added}
    return values if since.keys() & values.keys() else {**values, **since}
