"""A method on paper: its settings and what it learned, written as a plan and read again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from steelyard.foundation.errors import PlanError, SettingError
from steelyard.voting.confidence.drift import MOST_REFERENCES
from steelyard.voting.fitting.mixing import Mix
from steelyard.voting.methods.base.configured import Configured
from steelyard.voting.methods.base.plan import OPTIONAL, Plan, Provenance, renamed, write_plan
from steelyard.voting.on_demand.learned import Asking
from steelyard.voting.stopping import rule_from
from steelyard.voting.stopping.cascade import Cascade
from steelyard.voting.stopping.rule import Rule

FARTHEST = 35.0  # the evidence of a score within 1e-15 of 0 or 1, the narrowest clip
MOST_DRAWN = 1_000_000  # samples per question
MOST_FOLDS, MOST_ERRORS = 1000, 1e6
APART = (
    "fitted_on_",
    "stopping_",
    "mix_",
    "cascade_",
    "asking_",
    "samples_",
)  # a plan has them beside the learned values


@dataclass(repr=False, eq=False)
class Stored(Configured):
    """Fields without a trailing underscore are settings, those with one are learned."""

    name: ClassVar[str]  # what the user types
    learns: ClassVar[bool] = False  # needs labels to be fitted
    added: ClassVar[tuple[str, ...]] = ()  # fields that its earlier plans do not have: they are as before a fit

    fitted_on_: Provenance | None = field(default=None, init=False, repr=False)
    stopping_: Rule | None = field(default=None, init=False, repr=False)  # when to stop sampling
    mix_: Mix | None = field(default=None, init=False, repr=False)  # how several scores are made one
    cascade_: Cascade | None = field(default=None, init=False, repr=False)  # whom to ask next
    asking_: Asking | None = field(default=None, init=False, repr=False)  # which responses the verifier reads
    samples_: dict[str, int] | None = field(
        default=None, init=False, repr=False
    )  # to draw, by source; "": the only one

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the fitted method as a plan, plain JSON; over a plan that is there, with `overwrite` over any file."""
        stopping = self.stopping_.plain() if self.stopping_ else None
        mix = self.mix_.stored() if self.mix_ else None
        cascade = self.cascade_.plain() if self.cascade_ else None
        asking = self.asking_.plain() if self.asking_ else None
        beside = (stopping, mix, self.made_by(), cascade, asking, self.samples_)
        plan = Plan(self.name, self.settings(), self.learned(), self.fitted_on_, *beside)
        write_plan(plan, path, overwrite=overwrite)

    @classmethod
    def made_by(cls) -> str | None:
        """The class that a plan was made by, where it is not Steelyard's own: another may have its name."""
        return None if cls.__module__.startswith("steelyard.") else f"{cls.__module__}.{cls.__qualname__}"

    def check_kinds(self) -> None:
        """Refuse a setting that is not of the type of its field."""
        kinds = get_type_hints(type(self))
        for key, value in self.settings().items():
            if not _is_a(value.item() if isinstance(value, np.generic) else value, kinds[key]):
                wanted = getattr(kinds[key], "__name__", str(kinds[key]))
                raise SettingError(f"{key} is {value!r:.40}, which {self.name} cannot use: give it as {wanted}")

    @classmethod
    def from_plan(cls, plan: Plan) -> Self:
        """Make the method a plan describes; every value must be there and of its kind."""
        blank = cls()
        settings = cls._with_added(renamed(plan.settings, blank.settings()), blank.settings())
        learned = cls._with_added(renamed(plan.learned, blank.learned()), blank.learned())
        plan = replace(plan, settings=settings, learned=learned)
        for what, has, needs in (
            ("settings", settings, blank.settings()),
            ("learned values", learned, blank.learned()),
        ):
            if set(has) != set(needs):
                known, found = sorted(needs), sorted(has)
                raise PlanError(f"{cls.name} has the {what} {known}, this plan {found!r:.200}: fit it again")
        kinds = get_type_hints(cls)
        for key, value in {**plan.settings, **plan.learned}.items():
            missing = value is None and key in plan.learned and plan.fitted_on is not None
            if missing or not _is_a(value, kinds[key]):
                raise PlanError(f"{key} is {value!r:.40}, which {cls.name} cannot use: fit the plan again")
        method = cls(**plan.settings)
        method.check_settings()
        for key, value in plan.learned.items():
            setattr(method, key, value)
        reference = plan.fitted_on.reference_scores if plan.fitted_on else ()
        if len(reference) > MOST_REFERENCES or not within(-FARTHEST, FARTHEST, reference):
            raise PlanError(f"its reference scores are not those of at most {MOST_REFERENCES} questions")
        method.fitted_on_ = plan.fitted_on
        method.stopping_ = None if plan.stopping is None else rule_from(plan.stopping)
        method.cascade_ = None if plan.cascade is None else Cascade.from_plain(plan.cascade)
        method.asking_ = None if plan.asking is None else Asking.from_plain(plan.asking)
        method.samples_ = None if plan.samples is None else checked_samples(plan.samples)
        method.mix_ = None if plan.mix is None else Mix.read(plan.mix)
        if plan.fitted_on is not None or not cls.learns:
            method.check_learned()
        return method

    @classmethod
    def _with_added(cls, found: dict[str, Any], blank: dict[str, Any]) -> dict[str, Any]:
        """What a plan has, and what was added to the method since such plans were made, all of it or nothing."""
        since = {key: value for key, value in blank.items() if key in cls.added}
        return found if since.keys() & found.keys() else {**found, **since}

    def check_settings(self) -> None:
        """Refuse settings that cannot work; fit and load call it, the constructor only stores."""

    def check_learned(self) -> None:
        """Refuse learned values, read from a plan, that do not fit together."""

    def summary(self) -> dict[str, Any]:
        """What a person wants to know of a fitted method, as plain values."""
        fitted = asdict(self.fitted_on_) if self.fitted_on_ else {}
        fitted.pop("reference_scores", None)
        fitted = {name: value for name, value in fitted.items() if name not in OPTIONAL or value}
        mix = {"mix": dict(zip(self.mix_.names, self.mix_.shares.tolist(), strict=True))} if self.mix_ else {}
        return {"method": self.name, **self.settings(), **fitted, **mix}

    def __sklearn_is_fitted__(self) -> bool:
        """Whether it can vote: after a fit, or at once if it learns nothing."""
        return self.fitted_on_ is not None or not self.learns

    def learned(self) -> dict[str, Any]:
        """What fit found."""
        return {f.name: getattr(self, f.name) for f in fields(self) if not f.init and f.name not in APART}


def checked_samples(samples: dict[str, Any]) -> dict[str, int]:
    """Return the numbers of samples that a plan draws, or refuse those that cannot be."""
    if not samples or any(type(n) is not int or not 1 <= n <= MOST_DRAWN for n in samples.values()):
        raise PlanError(
            f"its numbers of samples are damaged ({samples!r:.60}): make it again with 'steelyard plan-budget'"
        )
    return samples


def check_seed(seed: int) -> None:
    """Refuse a seed that no generator takes."""
    if not 0 <= seed < 2**63:
        raise SettingError(f"seed must be 0 or more and below 2^63, not {seed}")


def check_folds(folds: int, se_tolerance: float) -> None:
    """Refuse a cross-validation that cannot be done, or that would never end."""
    if not 2 <= folds <= MOST_FOLDS:
        raise SettingError(f"folds must be 2 or more and at most {MOST_FOLDS}, not {folds}")
    if not 0 <= se_tolerance <= MOST_ERRORS:
        raise SettingError(f"se_tolerance must be 0 or more and at most {MOST_ERRORS:g}, not {se_tolerance}")


def within(low: float, high: float, *values: ArrayLike) -> bool:
    """Whether all values are there, no NaN, and lie between two bounds.

    >>> within(0, 1, 0.5, [0.0, 1.0]), within(0, 1, np.inf), within(0, 1, [np.nan])
    (True, False, False)
    """
    return all(bool(np.all((np.asarray(value) >= low) & (np.asarray(value) <= high))) for value in values)


def _is_a(value: Any, kind: Any) -> bool:
    """Whether a value read from JSON can stand in a field annotated with `kind`."""
    if get_args(kind) and get_origin(kind) not in (np.ndarray, dict):
        return any(_is_a(value, part) for part in get_args(kind))
    plain = get_origin(kind) or kind
    if plain is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, plain) and isinstance(value, bool) == (plain is bool)
